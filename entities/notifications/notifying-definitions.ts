/** Ids of the definitions whose integrations are chats in which people get notifications. */
export const notifyingDefinitions = ['chat'] as const;
