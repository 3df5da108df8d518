import { testNeeding } from './needs.ts';

/** The path of libfaketime, which sets the clock of one process. Undefined if it is not installed. */
export const [FAKETIME] = [
  ...new Bun.Glob('/usr/lib/*/faketime/libfaketimeMT.so.1').scanSync({ cwd: '/', absolute: true }),
];
export const testWithFaketime = testNeeding(FAKETIME !== undefined, 'not installed: libfaketime');
