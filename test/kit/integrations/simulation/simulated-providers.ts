import { FakeIdentityProvider } from '../../fakes/fake-identity-provider.ts';
import { FakeChatWorkspaces } from '../../fakes/integrations/fake-chat-workspace.ts';
import { codeHostEnvironment, FakeCodeHost } from '../../fakes/integrations/fake-codehostapp.ts';
import { FakeDirectoryService } from '../../fakes/integrations/fake-directoryservice.ts';
import { FakeOfficeSuite } from '../../fakes/integrations/fake-officesuite.ts';
import type { Random } from '../../random.ts';
import { openWorld, type World } from '../../world.ts';
import { chatEnvironment } from '../connected-chat.ts';
import { callbackOfWorld, localSettings } from '../local-connection.ts';
import { UnreliableAnswers } from './unreliable-answers.ts';

/** Records on a page: several pages to a directory. */
const pageSize = 5;

/** One fake of each provider, which answer as badly as the simulation wants, and a world that asks them. */
export interface SimulatedProviders {
  readonly world: World;
  readonly answers: UnreliableAnswers;
  readonly chat: FakeChatWorkspaces;
  readonly codeHost: FakeCodeHost;
  readonly directory: FakeDirectoryService;
  readonly suite: FakeOfficeSuite;
  readonly local: FakeIdentityProvider;
  close(): Promise<void>;
}

export async function openSimulatedProviders(random: Random): Promise<SimulatedProviders> {
  let now = () => new Date();
  const current = () => now();
  const answers = new UnreliableAnswers(random);
  const chat = await FakeChatWorkspaces.start(current);
  const codeHost = await FakeCodeHost.start(current);
  const directory = await FakeDirectoryService.start(current);
  const suite = await FakeOfficeSuite.start(current);
  const local = await FakeIdentityProvider.start(current);
  // Each renewal ends the refresh token before it, so a crash after it loses the connection, and a person connects again.
  chat.rotates = true;
  suite.rotates = true;
  for (const fake of [chat, codeHost, directory, suite]) {
    fake.pageSize = pageSize;
    fake.before = (request) => answers.before(fake.url, request);
  }
  chat.members = (members) => answers.records(members);
  chat.nextCursor = (cursor) => answers.next(cursor);
  const records = (listed: readonly object[]) => answers.records(listed);
  for (const fake of [codeHost, directory, suite]) fake.records = records;
  directory.nextLink = (link) => answers.next(link);
  suite.nextToken = (token) => answers.next(token);
  const world = await openWorld({
    environment: {
      ...chatEnvironment(chat),
      ...codeHostEnvironment(codeHost),
      ...localSettings(local),
      ...clientOf('DIRECTORYSERVICE', directory),
      ...clientOf('OFFICESUITE', suite),
    },
    integrations: {
      urls: { ...chat.urls, ...codeHost.urls, ...directory.urls, ...suite.urls },
      // A silent provider is given up after it; an answer that a busy machine delays is one more that is missing.
      timeoutMs: 700,
    },
  });
  now = () => world.clock.now();
  return {
    world,
    answers,
    chat,
    codeHost,
    directory,
    suite,
    local,
    close: async () => {
      await world.close();
      await Promise.all([chat, codeHost, directory, suite, local].map((fake) => fake.close()));
    },
  };
}

function clientOf(name: string, { client }: { readonly client: { readonly id: string; readonly secret: string } }) {
  return {
    [`CORE_INTEGRATIONS_${name}_CLIENTID`]: client.id,
    [`CORE_INTEGRATIONS_${name}_CLIENTSECRET`]: client.secret,
    [`CORE_INTEGRATIONS_${name}_REDIRECTURL`]: callbackOfWorld,
  };
}
