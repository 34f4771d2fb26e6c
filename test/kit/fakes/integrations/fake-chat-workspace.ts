import type { AuthTestResponse, OauthV2AccessResponse, UsersListResponse } from '@slack/web-api';
import type { Answering, FakeRequest } from '../http-fake.ts';
import { FakeProvider } from './fake-provider.ts';

export type FakeMember = NonNullable<UsersListResponse['members']>[number];

export interface FakeWorkspace {
  readonly id: string;
  readonly name: string;
  readonly members: FakeMember[];
  /** Ids of channels to which the bot may send. */
  readonly channels: readonly string[];
}

/** A message as people see it in a channel. */
export interface WorkspaceMessage {
  readonly channel: string;
  readonly text: string;
}

const tokenLifetimeS = 43_200;

/** Chat over HTTP: sign-in of apps, and the methods of bots. With rotation, tokens end and refresh tokens work once. */
export class FakeChatWorkspaces extends FakeProvider {
  readonly client = { id: '11.22', secret: 'secret-of-the-chat-app' };
  readonly appId = 'A0123456789';
  readonly posted: WorkspaceMessage[] = [];
  rotates = false;
  pageSize = 200;
  /** Changes the people of a page: repeats, reorders, spoils them. */
  members: (members: readonly FakeMember[]) => readonly unknown[] = (members) => members;
  /** Changes the position of the next page. */
  nextCursor: (cursor: string) => unknown = (cursor) => cursor;
  /** Error with which the next method is refused. */
  nextError: string | undefined;
  readonly #workspaces = new Map<string, FakeWorkspace>();
  readonly #codes = new Map<string, { readonly workspaceId: string; readonly redirectUri: string | null }>();
  readonly #tokens = new Map<string, { readonly workspaceId: string; readonly endsAt: number }>();
  readonly #refreshTokens = new Map<string, string>();

  static async start(now: () => Date = () => new Date()): Promise<FakeChatWorkspaces> {
    const fake = new FakeChatWorkspaces(now);
    await fake.listen();
    return fake;
  }

  override get urls(): Readonly<Record<string, string>> {
    return { 'https://slack.com': this.url };
  }

  addWorkspace(id: string, given: Partial<FakeWorkspace> = {}): FakeWorkspace {
    const workspace = { id, name: `Workspace ${id}`, members: [], channels: ['C0000000001'], ...given };
    this.#workspaces.set(id, workspace);
    return workspace;
  }

  /** The URL to which a person is sent back who lets the app in. @param location of the request */
  approve(location: string, workspaceId: string): URL {
    const { searchParams: asked } = new URL(location);
    const code = this.secret('code');
    this.#codes.set(code, { workspaceId, redirectUri: asked.get('redirect_uri') });
    const url = new URL(asked.get('redirect_uri') ?? '');
    url.search = new URLSearchParams({ code, state: asked.get('state') ?? '' }).toString();
    return url;
  }

  /** A token of the bot in a workspace. */
  tokenOf(workspaceId: string): string {
    const token = `xoxb-${this.secret('1')}`;
    this.secrets.push(token);
    const endsAt = this.rotates ? this.now().getTime() + tokenLifetimeS * 1_000 : Number.POSITIVE_INFINITY;
    this.#tokens.set(token, { workspaceId, endsAt });
    return token;
  }

  endToken(token: string): void {
    this.#tokens.delete(token);
  }

  /** Number of tokens that work. */
  get tokens(): number {
    return this.#tokens.size;
  }

  giveToken(token: string, workspaceId: string): void {
    this.#tokens.set(token, { workspaceId, endsAt: Number.POSITIVE_INFINITY });
  }

  endTokens(): void {
    this.#tokens.clear();
  }

  protected override answer({ path, headers, body }: FakeRequest): Answering {
    const form = new URLSearchParams(body);
    const error = this.nextError;
    this.nextError = undefined;
    if (error !== undefined) return refusal(error);
    if (path === '/api/oauth.v2.access') return this.#grant(form);
    const token = (headers.authorization ?? '').replace(/^Bearer /, '');
    const held = this.#tokens.get(token);
    const workspace = held && this.#workspaces.get(held.workspaceId);
    if (!held || !workspace) return refusal('invalid_auth');
    if (held.endsAt <= this.now().getTime()) return refusal('token_expired');
    switch (path) {
      case '/api/auth.test': {
        const answer: AuthTestResponse = { ok: true, team_id: workspace.id, team: workspace.name, user: 'bot' };
        return { status: 200, body: answer };
      }
      case '/api/auth.revoke':
        this.#tokens.delete(token);
        return { status: 200, body: { ok: true, revoked: true } };
      case '/api/users.list':
        return this.#list(form, workspace);
      case '/api/users.lookupByEmail':
        return find(form, workspace);
      case '/api/chat.postMessage':
        return this.#post(form, workspace);
      default:
        return refusal('unknown_method');
    }
  }

  #list(form: URLSearchParams, { members }: FakeWorkspace): Answering {
    const size = Math.min(this.pageSize, Number(form.get('limit') ?? 0));
    const cursor = form.get('cursor') ?? 'at:0';
    const start = Number(/^at:(\d+)$/.exec(cursor)?.[1] ?? Number.NaN);
    if (Number.isNaN(start)) return refusal('invalid_cursor');
    const next = this.nextCursor(start + size < members.length ? `at:${start + size}` : '');
    const page = this.members(members.slice(start, start + size));
    return { status: 200, body: { ok: true, members: page, response_metadata: { next_cursor: next } } };
  }

  #post(form: URLSearchParams, { channels, members }: FakeWorkspace): Answering {
    const channel = form.get('channel') ?? '';
    // The conversation of a person with the app has the id of the person, too.
    if (!channels.includes(channel) && !members.some(({ id }) => id === channel)) return refusal('channel_not_found');
    this.posted.push({ channel, text: form.get('text') ?? '' });
    const ts = `1700000000.${String(this.posted.length).padStart(6, '0')}`;
    return { status: 200, body: { ok: true, channel, ts, message: { type: 'message', ts } } };
  }

  #grant(form: URLSearchParams): Answering {
    const { id, secret } = this.client;
    if (form.get('client_id') !== id) return refusal('invalid_client_id');
    if (form.get('client_secret') !== secret) return refusal('bad_client_secret');
    if (form.get('grant_type') === 'refresh_token') {
      const used = form.get('refresh_token') ?? '';
      const workspaceId = this.#refreshTokens.get(used);
      // Each one works once.
      this.#refreshTokens.delete(used);
      return workspaceId === undefined ? refusal('invalid_refresh_token') : this.#granted(workspaceId);
    }
    const code = form.get('code') ?? '';
    const issued = this.#codes.get(code);
    this.#codes.delete(code);
    if (!issued) return refusal('invalid_code');
    if (issued.redirectUri !== form.get('redirect_uri')) return refusal('bad_redirect_uri');
    return this.#granted(issued.workspaceId);
  }

  #granted(workspaceId: string): Answering {
    const answer: OauthV2AccessResponse = {
      ok: true,
      app_id: this.appId,
      access_token: this.tokenOf(workspaceId),
      token_type: 'bot',
      scope: 'chat:write',
      team: { id: workspaceId, name: this.#workspaces.get(workspaceId)?.name ?? '' },
    };
    if (!this.rotates) return { status: 200, body: answer };
    const refreshToken = this.secret('xoxe-1');
    this.#refreshTokens.set(refreshToken, workspaceId);
    return { status: 200, body: { ...answer, refresh_token: refreshToken, expires_in: tokenLifetimeS } };
  }
}

function find(form: URLSearchParams, { members }: FakeWorkspace): Answering {
  const user = members.find(({ profile }) => profile?.email?.toLowerCase() === form.get('email')?.toLowerCase());
  return user ? { status: 200, body: { ok: true, user } } : refusal('users_not_found');
}

function refusal(error: string): Answering {
  return { status: 200, body: { ok: false, error, needed: 'secret of the answer', provided: 'xoxb-of-the-answer' } };
}
