/** A constant of two doubles, as the text format of WebAssembly has it. */
const CONSTANT = /v128\.const i32x4 (0x[0-9a-f]+) (0x[0-9a-f]+) (0x[0-9a-f]+) (0x[0-9a-f]+)/g;
/** The function that returns where the data of the module end. */
const HEAP_BASE = /(\(func \$assembly\/index\/heapBase \(result i32\)\s+i32\.const )(\d+)/;
const BYTES = 16;

/**
 * Returns the text of the module with its vector constants as data in its memory, from which the code loads them. Throws `Error` if the text
 * has another form. V8 makes a constant anew at each use, in three instructions: Node computes with the result in up to half the time.
 * JavaScriptCore keeps constants in registers and takes a tenth longer, so the server itself has the module as the compiler writes it.
 */
export function withConstantsInMemory(text: string): string {
  const [, , end] = HEAP_BASE.exec(text) ?? [];
  if (end === undefined) throw new Error('the module does not say where its data end');
  const places = new Map<string, number>();
  const first = Math.ceil(Number(end) / BYTES) * BYTES;
  const code = text.replaceAll(CONSTANT, (_, ...words: string[]) => {
    const place = places.getOrInsertComputed(words.slice(0, 4).join(' '), () => first + BYTES * places.size);
    return `i32.const ${place} v128.load`;
  });
  const data = [...places.keys()].map((words) => words.split(' ').map(littleEndian).join('')).join('');
  const segment = ` (data $constants (i32.const ${first}) "${data}")\n`;
  const at = code.indexOf(' (data ');
  if (at < 0) throw new Error('the module has no data');
  const whole = code.slice(0, at) + segment + code.slice(at);
  return whole.replace(HEAP_BASE, (_, head: string) => `${head}${first + BYTES * places.size}`);
}

/** Returns the four bytes of a word as escapes of the text format. */
function littleEndian(word: string): string {
  const bytes = new Uint8Array(Uint32Array.of(Number(word)).buffer);
  return [...bytes].map((byte) => `\\${byte.toString(16).padStart(2, '0')}`).join('');
}
