declare module '*.csv' {
  const path: string;
  export default path;
}
