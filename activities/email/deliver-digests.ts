import { concurrently } from '#entities/kit/base/concurrency/concurrently.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import {
  batchOf,
  emailOfDigest,
  type DigestToSend,
  type SendDigestsInput,
  type SentDigests,
} from '#workflows/email/send-digests.contract.ts';
import { sendEmailContract } from '#workflows/email/send-email.contract.ts';
import { SendFailure, type EmailTransport } from '../clients/email/transport.ts';
import { workContext } from '../clients/temporal/work-origin.ts';
import type { ActivityDependencies } from '../kit/activity-dependencies.ts';
import type { AttemptSettings } from './begin-attempt.ts';
import { beginBatch, recordGivenUp, recordOutcomes, type BegunDigest, type DigestOutcome } from './digest-batch.ts';
import { finalProblems, isFinal, passingProblems } from './send-problems.ts';

/** Workflows that are started at the same time. */
const maxStarts = 20;

interface DigestSender extends Pick<ActivityDependencies, 'database' | 'temporal'> {
  readonly settingsOf: (transport: EmailTransport | undefined) => AttemptSettings;
  /** Reports what an operator or a pause has to end. @returns the error after which the batch is tried again */
  readonly laterBecauseOf: (failure: SendFailure, carrier: string) => Promise<Error>;
  /** The error after which the batch is tried again, because nothing is configured that could send it. */
  readonly withoutProvider: () => Error;
}

/** Sends mails of digests in requests with many of them (docs/decisions/notifications-sent.md). */
export function digestSender({ database, temporal, settingsOf, laterBecauseOf, withoutProvider }: DigestSender) {
  const transact = <T>(organizationId: string, work: (unit: UnitOfWork) => Promise<T>): Promise<T> =>
    database.transact(workContext(systemCaller('send e-mail', organizationId), 'email-digests'), work);

  /** A workflow each sends these mails: it asks the provider what became of an earlier attempt, and finds which mail of a request is refused. */
  const sendAlone = async (digests: readonly DigestToSend[]): Promise<void> => {
    await concurrently(digests, maxStarts, (digest) =>
      temporal.start(sendEmailContract, emailOfDigest(digest), { search: { OrganizationId: [digest.organizationId] } }),
    );
  };

  const recordAll = async (mails: readonly BegunDigest[], outcomes: readonly DigestOutcome[]): Promise<void> => {
    const all = mails.map((mail, n) => [mail, outcomes[n] as DigestOutcome] as const);
    for (const [organizationId, own] of Map.groupBy(all, ([{ digest }]) => digest.organizationId))
      await transact(organizationId, (unit) => recordOutcomes(unit, organizationId, new Map(own)));
  };

  /** Records why a request has failed as a whole. @returns the digests whose mails are sent alone */
  const recordFailure = async (mails: readonly BegunDigest[], error: unknown, carrier: string) => {
    const failure = error instanceof SendFailure ? error : new SendFailure('unknown', 'The attempt broke off.');
    const { reason, message } = failure;
    // Which of them it is about is found out one by one.
    const problem = { ...passingProblems[isFinal(reason) ? 'unsent' : reason], message };
    await recordAll(
      mails,
      mails.map(() => problem),
    );
    if (!isFinal(reason) && reason !== 'unknown') throw await laterBecauseOf(failure, carrier);
    return mails.map(({ digest }) => digest);
  };

  /** @returns the digests whose mails are sent alone, and how many were accepted */
  const send = async (mails: readonly BegunDigest[], transport: EmailTransport) => {
    let results: readonly (string | SendFailure)[];
    try {
      failpoint('email-before-send');
      results = await transport.sendAll(mails);
    } catch (error) {
      return { sent: 0, alone: await recordFailure(mails, error, transport.carrier) };
    }
    failpoint('email-accepted');
    const outcomes = results.map((result): DigestOutcome => {
      if (typeof result === 'string') return { messageId: result };
      const { reason, message } = result;
      if (reason === 'address') return { ...finalProblems.address, message };
      return { ...passingProblems[isFinal(reason) ? 'unsent' : reason], message };
    });
    await recordAll(mails, outcomes);
    const isAlone = (n: number) => {
      const result = results[n];
      // A workflow of its own shows that a content is refused.
      return result instanceof SendFailure && result.reason !== 'address';
    };
    const alone = mails.filter((_mail, n) => isAlone(n)).map(({ digest }) => digest);
    return { sent: results.filter((result) => typeof result === 'string').length, alone };
  };

  return {
    /** One attempt for all mails of a batch that are still to be sent. */
    async deliver(input: SendDigestsInput, transport: EmailTransport | undefined): Promise<SentDigests> {
      const { digests } = input;
      const settings = settingsOf(transport);
      const batch = batchOf(input);
      const [mails, uncertain]: [BegunDigest[], DigestToSend[]] = [[], []];
      let waiting = 0;
      for (const [organizationId, own] of Map.groupBy(digests, (digest) => digest.organizationId)) {
        const part = { organizationId, digests: own, batch };
        const begun = await transact(organizationId, (unit) => beginBatch(unit, part, settings));
        mails.push(...begun.mails);
        uncertain.push(...begun.uncertain);
        waiting += begun.waiting;
      }
      await sendAlone(uncertain);
      if (waiting > 0) throw withoutProvider();
      const { sent, alone } = transport && mails.length > 0 ? await send(mails, transport) : { sent: 0, alone: [] };
      await sendAlone(alone);
      const single = uncertain.length + alone.length;
      return { sent, single, ended: digests.length - sent - single };
    },

    async giveUp({ digests }: SendDigestsInput): Promise<void> {
      for (const [organizationId, own] of Map.groupBy(digests, (digest) => digest.organizationId))
        await transact(organizationId, (unit) => recordGivenUp(unit, organizationId, own));
    },
  };
}
