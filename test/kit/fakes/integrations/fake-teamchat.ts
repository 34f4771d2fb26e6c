import type { ChatMessage, Organization } from '@microsoft/microsoft-graph-types';
import type { Answering, FakeRequest } from '../http-fake.ts';
import { FakeGraph, graphError, type TokenOwner } from './fake-graph.ts';

/** A message as people see it in a channel. */
export interface TeamMessage {
  readonly teamId: string;
  readonly channelId: string;
  readonly by: string | null;
  readonly contentType: string;
  readonly text: string;
}

/** Team chat over HTTP: sign-in server with refresh tokens that work once, and channels of teams. */
export class FakeTeamChat extends FakeGraph {
  readonly posted: TeamMessage[] = [];
  readonly channel = { teamId: 'aaaaaaaa-0000-4000-8000-000000000001', channelId: '19:channel-1@thread.tacv2' };

  static async start(now: () => Date = () => new Date()): Promise<FakeTeamChat> {
    const fake = new FakeTeamChat(now);
    await fake.listen();
    return fake;
  }

  /** The link to the channel, as people copy it. */
  get channelUrl(): string {
    const { teamId, channelId } = this.channel;
    return `https://teams.microsoft.com/l/channel/${encodeURIComponent(channelId)}/General?groupId=${teamId}`;
  }

  protected answerOfGraph(path: string, { method, body }: FakeRequest, { tenantId, personId }: TokenOwner): Answering {
    if (path === '/organization') {
      const organization: Organization = { id: tenantId, displayName: `Tenant ${tenantId}` };
      return { status: 200, body: { value: [organization] } };
    }
    const [, teamId = '', encoded = ''] = /^\/teams\/([^/]+)\/channels\/([^/]+)\/messages$/.exec(path) ?? [];
    const channelId = decodeURIComponent(encoded);
    if (method !== 'POST' || teamId !== this.channel.teamId || channelId !== this.channel.channelId)
      return graphError(404, 'NotFound');
    // The app itself may not send messages.
    if (personId === null) return graphError(403, 'Forbidden');
    const { body: given } = JSON.parse(body) as ChatMessage;
    this.posted.push({
      teamId,
      channelId,
      by: personId,
      contentType: given?.contentType ?? '',
      text: given?.content ?? '',
    });
    const message: ChatMessage = { id: String(1_700_000_000_000 + this.posted.length), webUrl: this.channelUrl };
    return { status: 201, body: message };
  }
}
