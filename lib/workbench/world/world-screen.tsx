/** World screen: shows clock, data, worlds and faults, each with the code for the same action. */
import { ClockCard } from './clock-card.tsx'
import { DataCard } from './data-card.tsx'
import { FaultsCard } from './faults-card.tsx'
import { GatesCard } from './gates-card.tsx'
import { WorldsCard } from './worlds-card.tsx'

export default function WorldScreen() {
  return (
    <>
      <h1 class="visually-hidden">World and faults</h1>
      <div class="cards">
        <GatesCard />
        <ClockCard />
        <DataCard />
        <FaultsCard />
        <WorldsCard />
      </div>
    </>
  )
}
