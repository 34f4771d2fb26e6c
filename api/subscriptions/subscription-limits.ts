/** How many connections with subscriptions there may be, and how many subscriptions each may have. */
export const subscriptionLimits = {
  /** Connections of this process. */
  connections: 20_000,
  /** Connections of one organization to this process. */
  connectionsOfOrganization: 10_000,
  /** Connections of one person or API token to this process. */
  connectionsOfCaller: 250,
  /** Subscriptions of one connection. */
  subscriptions: 100,
} as const;
