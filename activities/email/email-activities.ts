import { ApplicationFailure } from '@temporalio/activity';
import { publicApiUrl } from '#config/objects/public-api-url.ts';
import { accountEmailSuppression } from '#entities/email/account-email-suppression.ts';
import { emailSuppression } from '#entities/email/email-suppression.ts';
import { deriveKey } from '#entities/kit/base/secrets/keys.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { ReleaseAddressInput } from '#workflows/email/release-address.contract.ts';
import type { SendEmailInput, SendEmailResult } from '#workflows/email/send-email.contract.ts';
import { defineActivities, type ActivityDependencies } from '../kit/activity-dependencies.ts';
import { notifyOperator } from '../events/notify-operator.ts';
import { emailBrand, withoutSlash } from '../clients/email/email-brand.ts';
import { emailTransport, transportOf } from '../clients/email/from-config.ts';
import type { EmailThemeName } from '../clients/email/content.ts';
import { renderEmail } from '../clients/email/render.ts';
import {
  SendFailure,
  type EmailTransport,
  type OutgoingEmail,
  type SendFailureReason,
} from '../clients/email/transport.ts';
import { suppressAddress } from '../listeners/email/suppress-address.ts';
import { workContext } from '../clients/temporal/work-origin.ts';
import { beginAttempt, type Attempt, type AttemptSettings } from './begin-attempt.ts';
import { recordAccepted, recordProblem } from './email-records.ts';
import { ProviderPauses } from './provider-pauses.ts';
import { recordSent, recordUnsent, type AddressedMail } from './read-mail.ts';
import { finalProblems, isFinal, passingProblems } from './send-problems.ts';

type EmailDependencies = Pick<ActivityDependencies, 'config' | 'database' | 'temporal' | 'logger' | 'emailProviders'>;

export type EmailActivities = ReturnType<typeof createEmailActivities>;

/** How long after an attempt without an answer the provider is asked about it, unless a test says otherwise: it takes time to list a mail. */
const askAfterMs = 60_000;

/** Pause after a refused key or a missing provider, in milliseconds: an operator has to do something. */
const usualOperatorPauseMs = 60_000;

/** Sends mail. Its content is read when it is sent, so neither address nor token is in a workflow's history. */
export const createEmailActivities = defineActivities((deps: EmailDependencies) => {
  const { config, database, logger, emailProviders } = deps;
  const pauses = new ProviderPauses();
  const operatorPauseMs = emailProviders.operatorPauseMs ?? usualOperatorPauseMs;
  /** A folder is never asked: writing the same file again changes nothing. */
  const askAfter = (carrier: string | null) => (carrier === 'folder' ? 0 : (emailProviders.askAfterMs ?? askAfterMs));

  const transact = <T>(input: SendEmailInput, work: (unit: UnitOfWork) => Promise<T>): Promise<T> => {
    const caller = systemCaller('send e-mail', input.organizationId ?? null);
    return database.transact(workContext(caller, `email-${input.key}`), work);
  };

  const settingsOf = (transport: EmailTransport | undefined): AttemptSettings => {
    const current = config.current;
    const tokenKey = deriveKey(current.sessions.signingkey, 'one-time-token');
    const consoleUrl = withoutSlash(current.ormconfig.notifications.consoleurl);
    const billingUrl = current.subscription.paymentbillingportalsuccessurl;
    const links = { tokenKey, apiUrl: publicApiUrl(current), consoleUrl, billingUrl };
    const brand = emailBrand(current, database.options.clock.now());
    const render = ({ content, to, name }: AddressedMail, id: string, theme: EmailThemeName): OutgoingEmail =>
      renderEmail(content, { id, to, name, theme, brand });
    return { options: database.options, links, transport, render };
  };

  const begin = (
    input: SendEmailInput,
    transport: EmailTransport | undefined,
    isAnswered = false,
  ): Promise<Attempt> => {
    const settings = settingsOf(transport);
    return transact(input, (unit) => beginAttempt(input, unit, settings, isAnswered));
  };

  const accept = async (input: SendEmailInput, messageId: string): Promise<'sent'> => {
    failpoint('email-accepted');
    await transact(input, async (unit) => {
      await recordAccepted(input, unit, messageId);
      await recordSent(input, unit);
    });
    return 'sent';
  };

  /** Records why a mail was not sent. @throws ApplicationFailure when another attempt can succeed */
  const recordFailure = async (
    input: SendEmailInput,
    { id, to }: OutgoingEmail,
    carrier: string,
    error: unknown,
  ): Promise<SendEmailResult> => {
    // Any other failure: nobody knows what the provider has seen.
    const failure = error instanceof SendFailure ? error : new SendFailure('unknown', 'The attempt was interrupted.');
    const { reason, message } = failure;
    if (isFinal(reason)) {
      const { status, code } = finalProblems[reason];
      await transact(input, async (unit) => {
        await recordProblem(input, unit, { status, code, message });
        const scope = { organizationId: input.organizationId ?? null };
        if (reason === 'address') await suppressAddress(unit, scope, to, { reason: 'refused', emailId: id });
      });
      // The workflow fails, so that operators see it: something of ours is wrong. The message of the provider can quote the e-mail.
      if (reason === 'content')
        throw ApplicationFailure.nonRetryable(
          `${carrier} rejects the e-mail (code ${failure.code ?? 'unknown'}).`,
          code,
        );
      return status;
    }
    const { status, code } = passingProblems[reason];
    await transact(input, (unit) => recordProblem(input, unit, { status, code, message }));
    throw await laterBecauseOf(failure, carrier, error);
  };

  /** Notifies the operator, or pauses the provider. @returns the error after which Temporal tries again */
  const laterBecauseOf = async (failure: SendFailure, carrier: string, cause: unknown = failure): Promise<Error> => {
    const { reason, message } = failure;
    if (reason === 'credentials') {
      logger.error({ carrier, reason: message }, 'the e-mail provider refuses our requests');
      await notifyOperator(deps, carrier, { message: 'email-refused', carrier });
    }
    if (reason === 'limited') pauses.pause(carrier, failure.retryAfterMs);
    const delays: Partial<Record<SendFailureReason, number>> = {
      limited: pauses.remainingMs(carrier),
      credentials: operatorPauseMs,
      unknown: askAfter(carrier),
    };
    const code = isFinal(reason) ? finalProblems[reason].code : passingProblems[reason].code;
    return laterFailure(code, message, delays[reason] ?? 0, cause);
  };

  const withoutProvider = (): Error =>
    laterFailure('no_provider', 'No provider of e-mails is configured (integrations.email.provider).', operatorPauseMs);

  /** Current carrier of mails. @throws ApplicationFailure while it takes none */
  const currentTransport = (): EmailTransport | undefined => {
    const transport = emailTransport(config.current, emailProviders);
    const pausedMs = transport ? pauses.remainingMs(transport.carrier) : 0;
    if (pausedMs > 0)
      throw laterFailure('too_many_requests', 'The provider does not accept requests at the moment.', pausedMs);
    return transport;
  };

  return {
    /** One attempt. @returns how the mail has ended; `outdated` when its content is no longer true: then nothing is sent */
    async deliverEmail(input: SendEmailInput): Promise<SendEmailResult> {
      const transport = currentTransport();
      let attempt = await begin(input, transport);
      if ('uncertain' in attempt) {
        const found = await askAbout(input, attempt);
        if (found !== undefined) return accept(input, found);
        attempt = await begin(input, transport, true);
      }
      if ('result' in attempt) return attempt.result;
      if (!transport || !('body' in attempt)) throw withoutProvider();
      let messageId: string;
      try {
        failpoint('email-before-send');
        messageId = await transport.send(attempt.message, attempt.body);
      } catch (error) {
        return recordFailure(input, attempt.message, transport.carrier, error);
      }
      return accept(input, messageId);
    },

    /** The workflow has given up: after two days, or because no attempt can succeed. */
    async giveUpEmail(input: SendEmailInput): Promise<void> {
      await transact(input, async (unit) => {
        await recordProblem(input, unit, { status: 'failed', code: 'given_up' });
        await recordUnsent(input, unit);
      });
    },

    /** Makes the configured providers send to a released address again. */
    async releaseAddress({ suppressionId, organizationId }: ReleaseAddressInput): Promise<void> {
      const caller = systemCaller('release address', organizationId ?? null);
      const context = workContext(caller, `release-${suppressionId}`);
      const held = await database.transact({ ...context, readOnly: true }, ({ data }) =>
        organizationId === undefined
          ? data.findOne(accountEmailSuppression, { id: { eq: suppressionId } })
          : data.findOne(emailSuppression, { id: { eq: suppressionId } }),
      );
      // Deleted with its organization.
      if (!held) return;
      for (const carrier of ['providera', 'providerb'] as const)
        await transportOf(carrier, config.current, emailProviders)?.release(held.email);
    },
  };

  /** The id of the mail at the provider that may have accepted it. @throws ApplicationFailure while that cannot be known */
  async function askAbout(
    input: SendEmailInput,
    { message, uncertain: { carrier, since } }: Extract<Attempt, { uncertain: unknown }>,
  ): Promise<string | undefined> {
    const waitMs = since.getTime() + askAfter(carrier) - database.options.clock.now().getTime();
    if (waitMs > 0) throw laterFailure('no_answer', 'The provider is asked about the last attempt later.', waitMs);
    const asked = carrier && transportOf(carrier, config.current, emailProviders);
    if (!asked) {
      const problem = `It is not known whether ${carrier} has accepted the mail, and no key to ask it is configured.`;
      await transact(input, (unit) =>
        recordProblem(input, unit, { status: 'sending', code: 'no_provider', message: problem }),
      );
      throw laterFailure('no_provider', problem, operatorPauseMs);
    }
    try {
      return await asked.find(message, since);
    } catch (error) {
      // The reason of the failed question does not matter: the outcome of the attempt is as unknown as before.
      const problem = error instanceof SendFailure ? error.message : 'The query to the provider was interrupted.';
      await transact(input, (unit) =>
        recordProblem(input, unit, { status: 'sending', code: 'no_answer', message: problem }),
      );
      throw laterFailure('no_answer', problem, askAfter(carrier), error);
    }
  }
});

/** A failure after which Temporal tries again: after this time, or after that of the retry policy. */
function laterFailure(type: string, message: string, delayMs: number, cause?: unknown): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message,
    nonRetryable: false,
    ...(delayMs > 0 ? { nextRetryDelay: Math.ceil(delayMs) } : {}),
    ...(cause instanceof Error ? { cause } : {}),
  });
}
