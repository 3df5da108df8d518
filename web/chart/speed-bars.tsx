import { describeSpeed, nanoseconds, SPEED_SOURCES, type SpeedRow } from './speed-rows.ts';

/** Bars of the times of each kernel, with a scale of its own, because kernels differ by a factor of thousands. */
export function SpeedBars({ rows }: { rows: readonly SpeedRow[] }) {
  return (
    <div class="chart speed-bars" data-chart="speed" role="img" aria-label={describeSpeed(rows)}>
      {rows.map(({ kernel, unit, bars }) => {
        const most = Math.max(...bars.map(({ ns, spread }) => spread?.[1] ?? ns));
        const percent = (ns: number) => `${(100 * ns) / most}%`;
        return (
          <div key={kernel} class="speed-kernel" data-kernel={kernel}>
            <h3>
              {kernel} <span class="muted">per {unit}</span>
            </h3>
            {bars.map(({ source, ns, spread }) => (
              <div key={source} class="speed-row" data-source={source}>
                <span>{SPEED_SOURCES[source]}</span>
                <span class="speed-track">
                  <i class={`speed-bar ${source}`} style={{ width: percent(ns) }} />
                  {spread && (
                    <i
                      class="speed-spread"
                      style={{ left: percent(spread[0]), width: percent(spread[1] - spread[0]) }}
                    />
                  )}
                </span>
                <span class="number">{nanoseconds(ns)}</span>
              </div>
            ))}
          </div>
        );
      })}
    </div>
  );
}
