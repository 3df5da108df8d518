import { useEffect, useMemo, useState } from 'preact/hooks';
import { lastSessions, SessionLevels, sessionReadout, sessionsTable } from '../../chart/session-levels.tsx';
import type { Levels } from '../../data/page-answers.ts';
import { ChartPanel } from '../../panel/chart-panel.tsx';
import { page, tickerCall } from '../../state/page.ts';
import { moveToMoment, stops } from '../../state/time-stops.ts';

/** Renders the levels of the last sessions beside the ladder. The history is the one that the time strip has asked for. */
export function SessionsPanel({ levels, moment }: { levels: Levels; moment: string | undefined }) {
  const [cursor, setCursor] = useState<number | null>(null);
  const [isDrawn, setDrawn] = useState(false);
  // The plot is drawn after the first frame, so that the figures of the ticker do not wait for it.
  useEffect(() => setDrawn(true), []);
  const { answer } = stops.asked.value;
  // The history has the levels with the default options alone.
  const isDefault = Object.keys(page.value.options).length === 0;
  const sessions = useMemo(
    () => lastSessions(answer?.body, moment ?? '', isDefault ? levels : undefined),
    [answer, moment, levels, isDefault],
  );
  const table = useMemo(() => sessionsTable(sessions, moveToMoment), [sessions]);
  const shown = cursor === null ? undefined : sessions[cursor];
  return (
    <ChartPanel
      id="sessions"
      class="sessions-panel"
      title="Last sessions"
      call={answer && tickerCall('get_gex_history', moment, { per: 'snapshot', points: 5000 })}
      table={table}
      readout={shown ? sessionReadout(shown) : 'Press a session to see it.'}
    >
      {isDrawn && (
        <SessionLevels
          sessions={sessions}
          spot={levels.spot_price}
          cursor={shown ? cursor : null}
          onCursor={setCursor}
          onOpen={(i) => moveToMoment(sessions[i]!.at)}
        />
      )}
    </ChartPanel>
  );
}
