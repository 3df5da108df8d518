import { useEffect, useMemo, useState } from 'preact/hooks';
import { lastSessions, SessionLevels, sessionReadout, sessionsTable } from '../../chart/session-levels.tsx';
import { type History, type Levels, useAnswer } from '../../data/page-answers.ts';
import { newYorkIsoDate } from '../../page-format.ts';
import { ChartPanel } from '../../panel/chart-panel.tsx';
import { historyCall, page, tickerCall } from '../../state/page.ts';
import { fillingPast } from '../../state/page-market.ts';
import { horizonOf, horizonText } from '../../state/scope-words.ts';
import { moveToMoment, stops } from '../../state/time-stops.ts';

/** Renders the levels of the last sessions beside the ladder. The history is the one that the time strip has asked for. */
export function SessionsPanel({ levels, moment }: { levels: Levels; moment: string | undefined }) {
  const [cursor, setCursor] = useState<number | null>(null);
  const [isDrawn, setDrawn] = useState(false);
  // The plot is drawn after the first frame, so that the figures of the ticker do not wait for it.
  useEffect(() => setDrawn(true), []);
  const { expiries, ...others } = page.value.options;
  const ofSwitch = horizonOf(expiries);
  const horizon = ofSwitch ?? 'all';
  const args = { per: 'day', points: 2000, horizon };
  // The history of the time strip has the levels of all expiries.
  const asked = useAnswer<History>(
    horizon === 'all' || moment === undefined ? undefined : historyCall('get_gex_history', moment, args),
    `${newYorkIsoDate(moment ?? 0)} ${fillingPast.value}`,
  );
  const { answer, problem } = horizon === 'all' ? stops.asked.value : asked;
  // The history has the levels with the default options alone.
  const isDefault = ofSwitch !== undefined && Object.keys(others).length === 0;
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
      unit={horizonText(horizon)}
      call={
        answer && tickerCall('get_gex_history', moment, horizon === 'all' ? { per: 'snapshot', points: 5000 } : args)
      }
      problem={problem}
      table={table}
      readout={shown ? sessionReadout(shown) : 'Press a session to see it.'}
    >
      {isDrawn && answer && (
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
