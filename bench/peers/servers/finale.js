// finale-rest on Sequelize 6 and Express.
import express from 'express'
import finale from 'finale-rest'
import { DataTypes, Sequelize } from 'sequelize'

const [port, storage] = process.argv.slice(2)
const sequelize = new Sequelize({ dialect: 'sqlite', storage, logging: false, define: { timestamps: false, freezeTableName: true } })
// What the others have by default: better-sqlite3 is built so.
await sequelize.query('pragma synchronous = normal')
// The form in which it keeps date-times itself.
await sequelize.query("update user set created_at = strftime('%Y-%m-%d %H:%M:%f +00:00', created_at / 1000.0, 'unixepoch')")
const id = { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }
const required = type => ({ type, allowNull: false })
const User = sequelize.define('user', {
  id,
  name: required(DataTypes.TEXT),
  email: required(DataTypes.TEXT),
  active: required(DataTypes.BOOLEAN),
  score: required(DataTypes.INTEGER),
  created_at: required(DataTypes.DATE),
})
const Site = sequelize.define('site', { id, url: required(DataTypes.TEXT), user_id: required(DataTypes.INTEGER) })
const app = express()
app.use(express.json())
finale.initialize({ app, sequelize })
finale.resource({ model: User, endpoints: ['/users', '/users/:id'] })
finale.resource({ model: Site, endpoints: ['/sites', '/sites/:id'] })
app.listen(Number(port), '127.0.0.1')
