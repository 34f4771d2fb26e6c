import type { IncomingMessage } from 'node:http';

/** Address of GraphQL, and of its websockets. */
export const graphqlPath = '/graphql';

/**
 * Options of a server: only requests for a websocket at the address that has one leave HTTP. For all others the header Upgrade is
 * ignored, which is allowed (RFC 9110, section 7.8).
 */
export const upgrades = {
  shouldUpgradeCallback: ({ method, url = '', headers }: IncomingMessage): boolean =>
    method === 'GET' &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    (url === graphqlPath || url.startsWith(`${graphqlPath}?`)),
};
