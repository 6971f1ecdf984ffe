/** The list of screens. A screen is loaded when first opened. */
import type { ComponentType } from 'preact'
import { useLoad } from './parts/use-load.ts'
import { ErrorNotice } from './parts/notice.tsx'

interface Screen {
  /** First segment of places: `#/data`. */
  readonly name: string
  readonly title: string
  readonly about: string
  readonly load: () => Promise<{ readonly default: ComponentType }>
}

export const SCREENS: readonly Screen[] = [
  { name: 'data', title: 'Data', about: 'resources and their records', load: () => import('./data/data-screen.tsx') },
  {
    name: 'requests',
    title: 'Requests',
    about: 'what was asked, and why it was answered so',
    load: () => import('./requests/requests-screen.tsx'),
  },
  {
    name: 'world',
    title: 'World and faults',
    about: 'clock, snapshots, worlds, faults and gates',
    load: () => import('./world/world-screen.tsx'),
  },
  { name: 'console', title: 'Console', about: 'a request of your own, and its answer', load: () => import('./console/console-screen.tsx') },
  { name: 'model', title: 'Model', about: 'the diagram, and what each resource takes', load: () => import('./model/model-screen.tsx') },
]

export function findScreen(name: string): Screen | undefined {
  return SCREENS.find(screen => screen.name === name)
}

export function ScreenView({ screen }: { readonly screen: Screen }) {
  const { data, error } = useLoad(async () => ({ screen, module: await screen.load() }), [screen])
  if (error !== undefined) return <ErrorNotice error={error} />
  if (data?.screen !== screen) return null
  const { default: Content } = data.module
  return <Content />
}
