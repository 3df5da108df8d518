/** Messages as they go over the wire, for either era. */
export function initialize(protocolVersion: string, clientInfo = { name: 'wire', version: '1' }) {
  return {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion, capabilities: {}, clientInfo },
  };
}

/** A message from 2026-07-28 on. It carries its whole context and needs no session. */
export function modern(id: number, method: string, params: object = {}) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'wire', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta } };
}

/** The headers of such a message. */
export function headersOf(method: string) {
  return { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': method };
}
