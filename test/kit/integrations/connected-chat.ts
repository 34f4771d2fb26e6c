import { expect } from 'vitest';
import type { FakeChatWorkspaces, FakeMember } from '../fakes/integrations/fake-chat-workspace.ts';
import type { Person } from '../people.ts';
import type { TestClient } from '../test-client.ts';

/** Settings of an operator who offers the chat. */
export function chatEnvironment({ client }: FakeChatWorkspaces): Readonly<Record<string, string>> {
  return {
    CORE_INTEGRATIONS_CHAT_CLIENTID: client.id,
    CORE_INTEGRATIONS_CHAT_CLIENTSECRET: client.secret,
    CORE_INTEGRATIONS_CHAT_REDIRECTURL: 'https://api.test/v1/integrations/auth/callback',
  };
}

export function memberIn({ user }: Person, id: string): FakeMember {
  return { id, name: id, profile: { email: user.email } };
}

let workspaces = 0;

/** Connects a new workspace with these people by a bot token. @returns the id of the integration */
export async function connectChat(
  chat: FakeChatWorkspaces,
  client: TestClient,
  people: readonly FakeMember[] = [],
): Promise<string> {
  const workspaceId = `T${String(++workspaces).padStart(9, '0')}`;
  chat.addWorkspace(workspaceId, { members: [...people] });
  const { status, body } = await client.post('/v1/integrations/chat/config', {
    name: 'Chat',
    credential_ref: 'botToken',
    body: { accessToken: chat.tokenOf(workspaceId) },
  });
  expect({ status, body }).toMatchObject({ body: { status: 'connected' } });
  return body.id;
}
