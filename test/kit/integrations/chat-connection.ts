import { expect } from 'vitest';
import { FakeChatWorkspaces } from '../fakes/integrations/fake-chat-workspace.ts';
import { buildPerson, signedIn, type Person } from '../people.ts';
import type { TestClient } from '../test-client.ts';
import { openWorld, type World, type WorldOptions } from '../world.ts';

/** A world with a chat, whose tokens end and are renewed, and a person who connects workspaces. */
export interface ChatConnections {
  readonly world: World;
  readonly chat: FakeChatWorkspaces;
  readonly owner: Person;
  /** A browser of the owner. Tests move the clock, so sessions end. */
  client(): Promise<TestClient>;
  /** Connects a workspace by a sign-in. @returns the id of the integration */
  connect(workspaceId: string, integrationId?: string): Promise<string>;
  /** Number of times that the chat was asked to renew a credential. */
  renewals(): number;
  close(): Promise<void>;
}

export async function openChatConnections(options: WorldOptions = {}): Promise<ChatConnections> {
  let now = () => new Date();
  const chat = await FakeChatWorkspaces.start(() => now());
  chat.rotates = true;
  const world = await openWorld({
    ...options,
    environment: {
      CORE_INTEGRATIONS_CHAT_CLIENTID: chat.client.id,
      CORE_INTEGRATIONS_CHAT_CLIENTSECRET: chat.client.secret,
      CORE_INTEGRATIONS_CHAT_REDIRECTURL: 'https://api.test/v1/integrations/auth/callback',
      ...options.environment,
    },
    integrations: { urls: chat.urls },
  });
  now = () => world.clock.now();
  const owner = await buildPerson(world);
  return {
    world,
    chat,
    owner,
    client: () => signedIn(world, owner),
    connect: async (workspaceId, integrationId) => {
      chat.addWorkspace(workspaceId);
      const client = await signedIn(world, owner);
      const begun = await client.post('/v1/integrations/auth/start', {
        definition_id: 'chat',
        ...(integrationId === undefined ? { name: workspaceId } : { integration_id: integrationId }),
      });
      expect(begun.status, JSON.stringify(begun.body)).toBe(200);
      const { pathname, search } = chat.approve(begun.body.auth_url, workspaceId);
      const { status, body } = await client.get(pathname + search);
      expect(status, JSON.stringify(body)).toBe(302);
      return begun.body.id;
    },
    renewals: () => chat.requests.filter(({ body }) => body.includes('grant_type=refresh_token')).length,
    close: async () => {
      await world.close();
      await chat.close();
    },
  };
}
