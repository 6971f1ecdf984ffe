/** Grey rows in the place of data to come. */

interface SkeletonProps {
  readonly rows: number
}

export function Skeleton({ rows }: SkeletonProps) {
  return (
    <div class="skeleton" aria-hidden="true">
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} />
      ))}
    </div>
  )
}
