/** What the HTTP transports use of the SDK. They import it for the first message that needs it, because its modules take 20 ms to load. */
export {
  createMcpHandler,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isLegacyRequest,
  parseJSONRPCMessage,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
export { createMcpServer } from '../mcp-server.ts';
