/** The path of a file that is imported with the type `file`. The compiled binary contains the file. */
declare module '*.wasm' {
  const path: string;
  export default path;
}
declare module '*.woff2' {
  const path: string;
  export default path;
}
