import { expect, test } from 'bun:test';
import { parseTraceparent } from '../../src/core/trace-context.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

test.each([
  ['sampled', `00-${TRACE}-${SPAN}-01`, true],
  ['not sampled', `00-${TRACE}-${SPAN}-00`, false],
  ['with unknown flags', `00-${TRACE}-${SPAN}-03`, true],
  ['of a later version with more parts', `cc-${TRACE}-${SPAN}-01-what-the-future-brings`, true],
])('a traceparent that is %s is read', (_, field, isSampled) => {
  expect(parseTraceparent(field)).toEqual({ traceId: TRACE, spanId: SPAN, isSampled });
});

test.each([
  ['missing', null],
  ['empty', ''],
  ['of the invalid version', `ff-${TRACE}-${SPAN}-01`],
  ['of version 00 with more parts', `00-${TRACE}-${SPAN}-01-more`],
  ['in upper case', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
  ['without a trace', `00-${'0'.repeat(32)}-${SPAN}-01`],
  ['without a span', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['too short', `00-${TRACE.slice(1)}-${SPAN}-01`],
  ['two fields', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
  ['a later version with text at its end', `cc-${TRACE}-${SPAN}-01.more`],
])('a traceparent that is %s is ignored', (_, field) => {
  expect(parseTraceparent(field)).toBeUndefined();
});
