import { dlopen, type FFIFunction } from 'bun:ffi';

/**
 * Returns functions of the C library, by their names and types. Returns undefined on a system other than Linux, and if the library cannot
 * be loaded.
 */
export function openLibc<Functions extends Record<string, FFIFunction>>(functions: Functions) {
  if (process.platform !== 'linux') return undefined;
  const musl = `libc.musl-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.so.1`;
  for (const name of ['libc.so.6', musl]) {
    try {
      return dlopen(name, functions).symbols;
    } catch {
      // No library of this name can be loaded. The next name is tried.
    }
  }
  return undefined;
}
