import { useState } from 'preact/hooks';
import { newYorkIsoDate, price } from '../page-format.ts';
import { Choice } from '../panel/choices.tsx';
import { moveToMoment, shownMs, stopList } from '../state/time-stops.ts';
import { dialog } from '../state/ui.ts';
import { shiftedDate } from '../time/exchange-days.ts';
import { Sheet } from './sheet.tsx';

const monthText = (date: number) =>
  new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(date);
const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/** A day of the calendar that has snapshots. */
interface StoredDay {
  /** The last snapshot of the day, ISO 8601. */
  readonly last: string;
  readonly count: number;
  readonly spot: number;
}

/** Returns the dates of the weeks of a month, Monday first. Dates outside the month are null. `month` is `2026-11`. */
export function weeksOf(month: string): (string | null)[][] {
  const first = `${month}-01`;
  const ahead = (new Date(`${first}T12:00:00Z`).getUTCDay() + 6) % 7;
  const dates: (string | null)[] = Array.from({ length: ahead }, () => null);
  for (let date = first; date.startsWith(month); date = shiftedDate(date, 1)) dates.push(date);
  return Array.from({ length: Math.ceil(dates.length / 7) }, (_, week) =>
    Array.from({ length: 7 }, (_, day) => dates[7 * week + day] ?? null),
  );
}

/** Renders the calendar of the stored snapshots. A press on a day moves the page to the last snapshot of the day. */
export function Calendar() {
  const { at, day, spot } = stopList.value;
  const days = new Map<string, StoredDay>();
  for (const [i, date] of day.entries())
    days.set(date, { last: at[i]!, spot: spot[i]!, count: (days.get(date)?.count ?? 0) + 1 });
  const shown = Number.isNaN(shownMs.value) ? day.at(-1) : newYorkIsoDate(shownMs.value);
  const months = [...new Set(day.map((date) => date.slice(0, 7)))];
  const [month, setMonth] = useState(shown?.slice(0, 7) ?? months.at(-1));
  if (month === undefined) return null;
  const before = months.findLast((each) => each < month);
  const after = months.find((each) => each > month);
  const choose = ({ last }: StoredDay) => {
    dialog.value = null;
    moveToMoment(last);
  };
  return (
    <Sheet title="Calendar of the snapshots" class="calendar">
      <div class="ends">
        <button type="button" disabled={!before} onClick={() => setMonth(before!)} aria-label="Month before">
          ◂
        </button>
        <Choice
          label="Month"
          value={month}
          values={[...new Set([...months, month])].toSorted()}
          text={(each) => monthText(Date.parse(`${each}-15`))}
          onChoose={setMonth}
        />
        <button type="button" disabled={!after} onClick={() => setMonth(after!)} aria-label="Month after">
          ▸
        </button>
      </div>
      <table>
        <caption>A day with its number of snapshots and its last spot</caption>
        <thead>
          <tr>
            {WEEKDAYS.map((name) => (
              <th key={name}>{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeksOf(month).map((week) => (
            <tr key={week.find(Boolean)}>
              {week.map((date, i) => {
                const stored = date === null ? undefined : days.get(date);
                return (
                  <td key={date ?? i}>
                    {stored ? (
                      <button
                        type="button"
                        data-day={date}
                        aria-current={date === shown ? 'date' : undefined}
                        onClick={() => choose(stored)}
                      >
                        <b>{Number(date!.slice(8))}</b> <small>×{stored.count}</small>
                        <br />
                        <small>{price(stored.spot)}</small>
                      </button>
                    ) : (
                      <span class="muted">{date && Number(date.slice(8))}</span>
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </Sheet>
  );
}
