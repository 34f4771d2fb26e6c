import { integration, secret } from '#entities/index.ts';
import type { Integration } from '#entities/integrations/connections/stored-credential.ts';
import type { SweepReport } from '#workflows/kit/sweep-contract.ts';
import { reconcileIntegrationContract } from '#workflows/integrations/reconcile-integration.contract.ts';
import { asOwner } from '../as-owner.ts';
import { asSystem } from '../as-person.ts';
import { eventually } from '../eventually.ts';
import { FakeChatWorkspaces } from '../fakes/integrations/fake-chat-workspace.ts';
import { runSchedule } from '../sweep.ts';
import { buildPerson, signedIn, type Person } from '../people.ts';
import type { TestClient } from '../test-client.ts';
import { openWorld, type World, type WorldOptions } from '../world.ts';

const workspaceId = 'T024BE7LD';

/** An integration with a workspace, and its side there. */
export interface ConnectedChat {
  readonly id: string;
  readonly owner: Person;
  readonly client: TestClient;
  /** The token with which it is connected. */
  readonly token: string;
}

export type SignedInChat = Pick<ConnectedChat, 'id' | 'client'> & { readonly owner: Pick<Person, 'organization'> };

type Owned = Pick<SignedInChat, 'id' | 'owner'>;

/** An installation with a worker, and a chat whose workspaces organizations connect. */
export class ChatGround {
  readonly world: World;
  readonly fake: FakeChatWorkspaces;

  private constructor(world: World, fake: FakeChatWorkspaces) {
    this.world = world;
    this.fake = fake;
  }

  static async open({ environment, ...options }: WorldOptions = {}): Promise<ChatGround> {
    let now = () => new Date();
    const fake = await FakeChatWorkspaces.start(() => now());
    fake.addWorkspace(workspaceId, { name: 'Example Inc.' });
    const world = await openWorld({
      worker: true,
      ...options,
      integrations: { urls: fake.urls, timeoutMs: 1_000 },
      environment: {
        CORE_INTEGRATIONS_CHAT_CLIENTID: fake.client.id,
        CORE_INTEGRATIONS_CHAT_CLIENTSECRET: fake.client.secret,
        CORE_INTEGRATIONS_CHAT_APPID: fake.appId,
        CORE_INTEGRATIONS_CHAT_REDIRECTURL: 'https://api.test/v1/integrations/auth/callback',
        CORE_JOBQUEUE_QUEUECONF_RETRYPOLICY_INITIALINTERVAL: '10',
        ...environment,
      },
    });
    now = () => world.clock.now();
    return new ChatGround(world, fake);
  }

  async close(): Promise<void> {
    await this.world.close();
    await this.fake.close();
  }

  /** Connects an integration with a token that a manager enters. @param by person who connects; an owner with an organization of their own when left out */
  async connect(by?: Person): Promise<ConnectedChat> {
    const owner = by ?? (await buildPerson(this.world));
    const client = await signedIn(this.world, owner);
    const token = this.fake.tokenOf(workspaceId);
    const { status, body } = await client.post('/v1/integrations/chat/config', {
      name: `Chat ${token.slice(-6)}`,
      credential_ref: 'botToken',
      body: { accessToken: token },
    });
    if (status !== 200) throw new Error(`it is not connected: ${JSON.stringify(body)}`);
    return { id: body.id as string, owner, client, token };
  }

  /** Connects an integration by the sign-in of a member of the workspace, whose token ends at the workspace when it is disconnected. */
  async signIn(client: TestClient, owner: Pick<Person, 'organization'>): Promise<SignedInChat> {
    const { body } = await client.post('/v1/integrations/auth/start', { definition_id: 'chat' });
    const back = this.fake.approve(body.auth_url as string, workspaceId);
    const { status } = await client.get(back.pathname + back.search);
    if (status !== 302) throw new Error(`the sign-in ended with status ${status}`);
    return { id: body.id as string, owner, client };
  }

  /** Refuses the token from now on. */
  refuse({ token }: ConnectedChat): void {
    this.fake.endToken(token);
  }

  /** Accepts the token again. */
  accept({ token }: ConnectedChat): void {
    this.fake.giveToken(token, workspaceId);
  }

  /** Uses the integration, so that a refusal is noticed. */
  use({ id, client }: ConnectedChat) {
    const input = { channel: 'C0000000001', text: 'hello' };
    return client.post(`/v1/integrations/${id}/operations/run`, { operation: 'messageSend', input });
  }

  /** Sends the wakes that sweeps and their workflows leave. */
  async sendWakes(): Promise<void> {
    this.world.clock.advance(60_000);
    await runSchedule(this.world, 'sweep-outbox');
  }

  /** Runs the sweep as its schedule does, and starts what it asks for. */
  async sweep(): Promise<SweepReport> {
    const report = await runSchedule<SweepReport>(this.world, 'sweep-integrations');
    if (report.done > 0) await this.sendWakes();
    return report;
  }

  row({ id, owner }: Owned): Promise<Integration | undefined> {
    return asSystem(this.world, owner.organization.id, (data) => data.findOne(integration, { id: { eq: id } }));
  }

  hasStatus(chat: Owned, status: Integration['status']): Promise<Integration> {
    return eventually(async () => {
      const row = await this.row(chat);
      return row?.status === status && row;
    });
  }

  isGone(chat: Owned): Promise<boolean> {
    return eventually(async () => (await this.row(chat)) === undefined);
  }

  /** Number of its credentials and receivers. */
  async keptOf({ id }: Pick<ConnectedChat, 'id'>): Promise<number> {
    const [row] = await asOwner<{ count: number }>(
      this.world,
      `select (select count(*) from secrets where integration_id = $1 and deleted_at is null)::int
         + (select count(*) from integration_webhooks where integration_id = $1 and deleted_at is null)::int as count`,
      [id],
    );
    return row?.count ?? -1;
  }

  /** A row that waits to be connected. @param expiresAt when it is removed */
  async pending(owner: Person, expiresAt: Date | null): Promise<{ readonly id: string; readonly owner: Person }> {
    const id = await asSystem(this.world, owner.organization.id, async (data) => {
      const name = `Pending ${Math.random()}`;
      const made = await data.create(integration, { name, definitionId: 'chat', status: 'pending', expiresAt });
      await data.create(secret, { name, value: '{}', integrationId: made.id, credentialRef: 'botToken' });
      return made.id;
    });
    return { id, owner };
  }

  /** The newest execution of the loop of an integration, or its status. */
  async loopStatus({ id, owner }: Owned): Promise<string> {
    const input = { integrationId: id, operation: 'directorySync', organizationId: owner.organization.id };
    const { workflow } = this.world.runtime.temporal.client;
    const workflowId = `${this.world.name}/${reconcileIntegrationContract.workflowId(input)}`;
    try {
      return (await workflow.getHandle(workflowId).describe()).status.name;
    } catch {
      return 'NONE';
    }
  }

  loopIs(chat: Owned, status: 'RUNNING' | 'COMPLETED'): Promise<boolean> {
    return eventually(async () => (await this.loopStatus(chat)) === status);
  }

  /** Number of notifications that a person has got about an event of integrations. */
  async notifiedOf({ user }: Pick<Person, 'user'>, verb: 'errored' | 'expiring'): Promise<number> {
    const [row] = await asOwner<{ count: number }>(
      this.world,
      'select count(*)::int as count from notifications where user_id = $1 and topic = $2',
      [user.id, `integration.${verb}`],
    );
    return row?.count ?? -1;
  }
}
