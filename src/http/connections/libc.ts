import { dlopen } from 'bun:ffi';

/** Returns the functions of the C library that the server uses. Returns undefined on a system other than Linux, and if it cannot be loaded. */
export function openLibc() {
  if (process.platform !== 'linux') return undefined;
  const musl = `libc.musl-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.so.1`;
  for (const name of ['libc.so.6', musl]) {
    try {
      return dlopen(name, {
        getsockname: { args: ['i32', 'ptr', 'ptr'], returns: 'i32' },
        getpeername: { args: ['i32', 'ptr', 'ptr'], returns: 'i32' },
        inet_ntop: { args: ['i32', 'ptr', 'ptr', 'u32'], returns: 'ptr' },
        fcntl: { args: ['i32', 'i32'], returns: 'i32' },
        getsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'ptr'], returns: 'i32' },
        setsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'u32'], returns: 'i32' },
        shutdown: { args: ['i32', 'i32'], returns: 'i32' },
      }).symbols;
    } catch {
      // No library of this name can be loaded. The next name is tried.
    }
  }
  return undefined;
}
