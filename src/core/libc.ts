import { dlopen, type FFIFunction } from 'bun:ffi';

/** Returns C library functions by their names and types. Returns undefined if the system is not Linux or does not have the library. */
export function openLibc<Functions extends Record<string, FFIFunction>>(functions: Functions) {
  if (process.platform !== 'linux') return undefined;
  const musl = `libc.musl-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.so.1`;
  for (const name of ['libc.so.6', musl]) {
    try {
      return dlopen(name, functions).symbols;
    } catch {
      // No library with this name can be loaded, so the loop tries the next name.
    }
  }
  return undefined;
}
