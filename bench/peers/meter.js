// Loaded before a server: tells the bench, when it asks, how many microseconds of the processor the server has used so far, all its threads
// together.
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send(user + system)
})
// The server alone decides how long it runs.
process.channel.unref()
