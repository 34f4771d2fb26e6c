import { emailVerification } from '#entities/identity/email-verification.ts';
import { user } from '#entities/identity/user.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import { oneTimeToken } from '#entities/kit/base/one-time-token.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { workContext } from '../clients/temporal/work-origin.ts';
import type { EmailTransport } from '../clients/email/transport.ts';
import { renderEmail, type EmailContent, type EmailTheme } from '../clients/email/render.ts';
import type { SendEmailInput } from '#workflows/email/send-email.contract.ts';

export interface EmailDependencies {
  readonly database: Database;
  readonly transport: EmailTransport;
  readonly theme: () => EmailTheme;
  /** Base of links that lead to the API itself (`integrations.email.apiurl`), without a trailing slash. */
  readonly apiUrl: () => string;
  /** Derived from `sessions.signingkey`; makes the tokens of links. */
  readonly tokenKey: Buffer;
}

export type EmailActivities = ReturnType<typeof createEmailActivities>;

/** Sending mail. What stands in a mail is read when it is sent; neither address nor token is in a workflow's history. */
export function createEmailActivities(deps: EmailDependencies) {
  return {
    /** @returns `outdated` when the mail would say something that is not true any more */
    async deliverEmail(input: SendEmailInput): Promise<'sent' | 'outdated'> {
      const context = { ...workContext(systemCaller('send e-mail'), `email-${input.key}`), readOnly: true };
      const message = await deps.database.transact(context, async (unit) => {
        const person = await unit.data.findOne(user, { id: { eq: input.userId } });
        const content = person && (await contentOf(deps, input, unit));
        // Until the address is confirmed, the name is what a stranger may have written to somebody else through us.
        const name = person?.emailConfirmedAt ? person.displayName : undefined;
        return content && { to: person.email, name, content };
      });
      if (!message) return 'outdated';
      const theme = deps.theme();
      await deps.transport.send({
        key: input.key,
        from: theme.fromEmail,
        to: message.to,
        ...renderEmail(message.content, message.name, theme),
      });
      return 'sent';
    },
  };
}

async function contentOf(
  deps: EmailDependencies,
  input: SendEmailInput,
  unit: UnitOfWork,
): Promise<EmailContent | undefined> {
  switch (input.kind) {
    case 'verify-address': {
      if (!input.about) return undefined;
      const verification = await unit.data.findOne(emailVerification, { id: { eq: input.about.id } });
      // Confirmed meanwhile, or a newer mail was asked for: this link would not work.
      if (!verification || verification.usedAt || verification.round !== input.about.round) return undefined;
      const token = oneTimeToken(deps.tokenKey, 'email-verification', verification.id, verification.round);
      return {
        subject: 'Confirm your e-mail address',
        paragraphs: [
          'Somebody, hopefully you, signed up with this address. If it was not you, do nothing.',
          'The link works for seven days.',
        ],
        action: { text: 'Confirm the address', url: `${deps.apiUrl()}/v1/verify#token=${token}` },
      };
    }
    case 'welcome':
      return {
        subject: 'Welcome',
        paragraphs: ['Your address is confirmed and your own organization is ready.', 'Sign in and look around.'],
      };
    case 'registration-repeated':
      return {
        subject: 'You have an account already',
        paragraphs: [
          'Somebody tried to sign up with this address, which has an account. If it was you, sign in instead; if not, nothing has changed.',
        ],
      };
    default:
      input.kind satisfies never;
      throw new Error(`unknown mail ${String(input.kind)}`);
  }
}
