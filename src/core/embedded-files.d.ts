/** The path of a file that is imported with the type `file`. The compiled binary contains the file. */
declare module '*.wasm' {
  const path: string;
  export default path;
}
declare module '*.woff2' {
  const path: string;
  export default path;
}
declare module '*.csv' {
  const path: string;
  export default path;
}
declare module 'swagger-ui-dist/*.js' {
  const path: string;
  export default path;
}
declare module 'swagger-ui-dist/*.css' {
  const path: string;
  export default path;
}
/** The text of a page that is imported with the type `text`. */
declare module '*.md' {
  const text: string;
  export default text;
}
/** The content of a TOML document. */
declare module '*.toml' {
  const document: unknown;
  export default document;
}
