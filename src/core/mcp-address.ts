/** Returns the address of the endpoint `/mcp` of a server. `url` may have the path of a proxy, or may be the address of the endpoint. */
export function mcpAddress(url: URL): URL {
  const address = new URL(url);
  address.pathname = url.pathname.replace(/(\/mcp)?\/*$/, '/mcp');
  return address;
}
