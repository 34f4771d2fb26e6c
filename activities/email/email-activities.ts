import { emailVerification } from '#entities/identity/email-verification.ts';
import { user } from '#entities/identity/user.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { deriveKey } from '#entities/kit/base/keys.ts';
import { oneTimeToken } from '#entities/kit/base/one-time-token.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { defineActivities, type ActivityDependencies } from '../kit/activity-dependencies.ts';
import { workContext } from '../clients/temporal/work-origin.ts';
import { emailTheme, emailTransport, publicApiUrl } from '../clients/email/from-config.ts';
import { renderEmail, type EmailContent } from '../clients/email/render.ts';
import type { SendEmailInput } from '#workflows/email/send-email.contract.ts';

type EmailDependencies = Pick<ActivityDependencies, 'config' | 'database'>;

export type EmailActivities = ReturnType<typeof createEmailActivities>;

/** Sends mail. Its content is read when it is sent, so neither address nor token is in a workflow's history. */
export const createEmailActivities = defineActivities(({ config, database }: EmailDependencies) => {
  const transport = emailTransport(config.current);
  const tokenKey = deriveKey(config.current.sessions.signingkey, 'one-time-token');
  return {
    /** @returns `outdated` when the content of the mail is no longer true; then nothing is sent */
    async deliverEmail(input: SendEmailInput): Promise<'sent' | 'outdated'> {
      const context = { ...workContext(systemCaller('send e-mail'), `email-${input.key}`), readOnly: true };
      const message = await database.transact(context, async (unit) => {
        const person = await unit.data.findOne(user, { id: { eq: input.userId } });
        const content = person && (await contentOf(input, unit, { tokenKey, apiUrl: publicApiUrl(config.current) }));
        // The name is left out until the address is confirmed: a stranger may have chosen it as a text for this address.
        const name = person?.emailConfirmedAt ? person.displayName : undefined;
        return content && { to: person.email, name, content };
      });
      if (!message) return 'outdated';
      const theme = emailTheme(config.current);
      await transport.send({
        key: input.key,
        from: theme.fromEmail,
        to: message.to,
        ...renderEmail(message.content, message.name, theme),
      });
      return 'sent';
    },
  };
});

interface LinkSettings {
  /** Makes the tokens of links; derived from `sessions.signingkey`. */
  readonly tokenKey: Buffer;
  /** Base of links that lead to the API itself (`integrations.email.apiurl`), without a trailing slash. */
  readonly apiUrl: string;
}

async function contentOf(
  input: SendEmailInput,
  unit: UnitOfWork,
  { tokenKey, apiUrl }: LinkSettings,
): Promise<EmailContent | undefined> {
  switch (input.template) {
    case 'verify-address': {
      if (!input.about) return undefined;
      const verification = await unit.data.findOne(emailVerification, { id: { eq: input.about.id } });
      // Confirmed meanwhile, or a newer mail was asked for: this link would not work.
      if (!verification || verification.usedAt || verification.round !== input.about.round) return undefined;
      const token = oneTimeToken(tokenKey, 'email-verification', verification.id, verification.round);
      return {
        subject: 'Confirm your e-mail address',
        paragraphs: [
          'Somebody, hopefully you, signed up with this address. If it was not you, do nothing.',
          'The link works for seven days.',
        ],
        action: { text: 'Confirm the address', url: `${apiUrl}/v1/verify#token=${token}` },
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
      input.template satisfies never;
      throw new Error(`unknown mail ${String(input.template)}`);
  }
}
