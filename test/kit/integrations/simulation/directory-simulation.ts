import { integration, integrationRun } from '#entities/index.ts';
import { asSystem } from '../../as-person.ts';
import { buildPerson, signedIn, type Person } from '../../people.ts';
import type { Random } from '../../random.ts';
import { recordTried } from '../../tried.ts';
import type { World } from '../../world.ts';
import { ScimClient } from '../scim-client.ts';
import { DirectoryModel } from './directory-model.ts';
import { readSides, whole, type DirectorySide, type SideOf } from './directory-sides.ts';
import { PlannedCrashes } from './planned-crashes.ts';
import { PushedDirectory } from './pushed-directory.ts';
import { passRates, SimulatedLoop } from './simulated-loop.ts';
import { SimulatedMessages } from './simulated-messages.ts';
import type { SimulatedProviders } from './simulated-providers.ts';

/** People and groups with which a directory begins. */
const [firstPeople, firstGroups] = [9, 2];

/** Mean time between two changes of a directory, in milliseconds. */
const changeEveryMs = 3 * 3_600_000;

/** The same of one that is pushed. */
const pushEveryMs = changeEveryMs / 4;

/** Mean time between two looks of a person, in milliseconds. */
const confirmEveryMs = 12 * 3_600_000;

/** Something that happens again and again. */
interface Actor {
  /** When it happens next, in milliseconds. */
  at: number;
  act(): Promise<void>;
}

interface Installed {
  readonly integrationId: string;
  readonly owner: Person;
  readonly model: DirectoryModel;
  readonly hasGroups: boolean;
  readonly expected: DirectorySide['expected'];
}

/** An installation whose directory is read. */
interface ReadInstallation extends Installed {
  readonly side: DirectorySide;
  readonly loop: SimulatedLoop;
}

/** Directories that change while their providers and the server fail, by the clock of the world. */
export class DirectorySimulation {
  readonly directories: Installed[] = [];
  readonly messages: SimulatedMessages[] = [];
  readonly crashes: PlannedCrashes;
  readonly #providers: SimulatedProviders;
  readonly #random: Random;
  readonly #read: ReadInstallation[] = [];
  readonly #actors: Actor[] = [];

  constructor(providers: SimulatedProviders, random: Random) {
    this.#providers = providers;
    this.#random = random;
    this.crashes = new PlannedCrashes(random);
  }

  get #world(): World {
    return this.#providers.world;
  }

  get #now(): number {
    return this.#world.clock.now().getTime();
  }

  /** Connects directories, by turns of each provider; SCIM is one of them. */
  async install(count: number): Promise<void> {
    const turns = [...readSides, undefined];
    for (let number = 1; number <= count; number++) {
      const sideOf = turns[(number - 1) % turns.length];
      await (sideOf ? this.#installRead(sideOf, number) : this.#installPushed(number));
    }
  }

  /** Lets time pass. @param durationMs of the world */
  async run(durationMs: number): Promise<void> {
    const end = this.#now + durationMs;
    this.#providers.answers.isCalm = false;
    for (;;) {
      const next = this.#actors.reduce((one, other) => (other.at < one.at ? other : one));
      if (next.at > end) break;
      this.#world.clock.advance(Math.max(0, next.at - this.#now));
      await next.act();
    }
    this.#providers.answers.isCalm = true;
  }

  /** Providers behave: one whole round of each loop, in which a person does what is asked of people. */
  async settle(): Promise<void> {
    for (const installation of this.#read) {
      // The pass that is in progress has read pages that have changed since.
      await this.#finishRounds(installation, installation.loop.isAtRest ? 1 : 2);
      if (await this.#confirm(installation)) await this.#finishRounds(installation, 1);
    }
  }

  async #finishRounds(installation: ReadInstallation, count: number): Promise<void> {
    const { loop } = installation;
    for (const end = loop.rounds + count; loop.rounds < end;) {
      this.#world.clock.advance(1_000);
      await this.#connectAgainIfNeeded(installation);
      await loop.act();
    }
  }

  /** Removes a person, a membership and what goes with them, and adds others. */
  removeSome({ integrationId, model }: Installed): void {
    model.addPerson();
    model.removePerson();
    model.addGroup();
    this.#read.find((one) => one.integrationId === integrationId)?.side.publish();
  }

  async #installRead(sideOf: SideOf, number: number): Promise<void> {
    const side = sideOf(this.#providers, this.#random, number);
    const isLocal = side.definitionId === 'oidclocal';
    this.#fill(side.model, isLocal ? [1, 0] : [firstPeople, firstGroups]);
    side.publish();
    const owner = await buildPerson(this.#world);
    const integrationId = await this.#connect(owner, side, { name: `Directory ${number}` });
    const loop = new SimulatedLoop(this.#world, this.#random, integrationId);
    const { model, hasGroups, expected } = side;
    const installation = { integrationId, owner, side, loop, model, hasGroups, expected };
    this.#read.push(installation);
    this.directories.push(installation);
    this.#actors.push({
      get at() {
        return loop.at;
      },
      act: async () => {
        await loop.act(this.crashes);
        await this.#connectAgainIfNeeded(installation);
      },
    });
    this.#repeat(changeEveryMs, () => (isLocal ? this.#signInNext(installation) : this.#change(installation)));
    this.#repeat(confirmEveryMs, async () => {
      await this.#confirm(installation);
    });
    if (side.definitionId !== 'chat') return;
    const messages = new SimulatedMessages(this.#world, owner.organization.id, integrationId);
    this.messages.push(messages);
    this.#repeat(changeEveryMs, () => messages.send(this.crashes));
  }

  async #installPushed(number: number): Promise<void> {
    const owner = await buildPerson(this.#world);
    const scim = await ScimClient.connect(this.#world, await signedIn(this.#world, owner), `Directory ${number}`);
    const model = new DirectoryModel(this.#random, (id, sort) => `${sort}-${number}-${id}`);
    const pushed = new PushedDirectory(scim, this.#random);
    for (const change of this.#fill(model, [firstPeople, firstGroups])) await pushed.push(change);
    this.directories.push({ integrationId: scim.integrationId, owner, model, hasGroups: true, expected: whole });
    this.#repeat(pushEveryMs, async () => {
      for (const change of model.change(true)) await pushed.push(change);
    });
  }

  #fill(model: DirectoryModel, [people, groups]: readonly [number, number]) {
    return [
      ...Array.from({ length: people }, () => model.addPerson()),
      ...Array.from({ length: groups }, () => model.addGroup()),
    ];
  }

  #repeat(meanMs: number, work: () => Promise<void> | void): void {
    const pauseMs = () => meanMs * 2 * this.#random.next();
    const actor: Actor = {
      at: this.#now + pauseMs(),
      act: async () => {
        await work();
        actor.at = this.#now + pauseMs();
      },
    };
    this.#actors.push(actor);
  }

  #change({ side, loop }: ReadInstallation): void {
    side.model.change(loop.isAtRest);
    side.publish();
    if (!this.#random.chance(0.1)) return;
    this.#providers.directory.expirePositions(this.#random.pick([400, 410]));
    this.#providers.suite.expirePositions();
  }

  /** A person signs in once the one before was brought in. */
  async #signInNext(installation: ReadInstallation): Promise<void> {
    const { side, owner, integrationId, loop } = installation;
    const run = await this.#newestRun(installation);
    const stored = await this.#stored(installation);
    const isRead = run?.status === 'succeeded' && run.createdAt > (stored.connectedAt ?? new Date());
    if (!loop.isAtRest || !isRead) return;
    side.model.addPerson();
    await this.#connect(owner, side, { integration_id: integrationId });
    loop.wake();
  }

  async #connectAgainIfNeeded(installation: ReadInstallation): Promise<void> {
    if (!installation.loop.isEnded) return;
    const { side, owner, integrationId, loop } = installation;
    recordTried('connections that a person made again', 1);
    await this.#connect(owner, side, { integration_id: integrationId });
    loop.wake();
  }

  async #connect(owner: Person, side: DirectorySide, input: object): Promise<string> {
    const { answers } = this.#providers;
    const was = answers.isCalm;
    answers.isCalm = true;
    await passRates(this.#world);
    const client = await signedIn(this.#world, owner);
    const begun = await client.post('/v1/integrations/auth/start', { definition_id: side.definitionId, ...input });
    if (begun.status !== 200) throw new Error(`it is not connected: ${JSON.stringify(begun.body)}`);
    const { pathname, search } = await side.approve(begun.body.auth_url as string, client);
    const { status, body } = await client.get(pathname + search);
    if (status !== 302) throw new Error(`the sign-in ended with ${status}: ${JSON.stringify(body)}`);
    answers.isCalm = was;
    return begun.body.id as string;
  }

  /** A person confirms a pass that would remove more than half; the loop continues it. @returns whether there was one */
  async #confirm(installation: ReadInstallation): Promise<boolean> {
    const run = await this.#newestRun(installation);
    if (run?.status !== 'waiting') return false;
    recordTried('removals that a person confirmed', 1);
    const client = await signedIn(this.#world, installation.owner);
    const { status, body } = await client.post(`/v1/integration-runs/${run.id}/confirm`, {});
    if (status !== 200) throw new Error(`the run is not confirmed: ${JSON.stringify(body)}`);
    installation.loop.wake();
    return true;
  }

  async #newestRun({ owner, integrationId }: Installed) {
    const [run] = await asSystem(this.#world, owner.organization.id, (data) =>
      data.find(integrationRun, {
        where: { integrationId: { eq: integrationId }, operationName: { eq: 'directorySync' } },
        orderBy: [{ field: 'id', direction: 'desc' }],
        limit: 1,
      }),
    );
    return run;
  }

  #stored({ owner, integrationId }: Installed) {
    return asSystem(this.#world, owner.organization.id, (data) => data.get(integration, integrationId));
  }
}
