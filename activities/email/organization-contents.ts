import { defineMail, sample } from './mail-definition.ts';

const { organization: name, person, until, url, unsubscribeToken } = sample;

interface Invitation {
  /** Absent for a deleted person. */
  readonly inviter: string | undefined;
  readonly name: string;
  readonly role: string;
  readonly until: string;
  readonly url: string;
  readonly unsubscribeToken: string;
}

/** Mails of organizations. Names of organizations are given as `organizationName` makes them. */
export const organizationContents = {
  invite: defineMail<Invitation>({ inviter: person, name, role: 'admin', until, url, unsubscribeToken }, (values) => ({
    subject: `Invitation to join ${values.name}`,
    paragraphs: [
      // Their address is confirmed; their display name could be any text.
      `${values.inviter ?? 'An organization'} invites you to join ${values.name} with the role ${values.role}.`,
      `The link works until ${values.until}. If you do not know the sender, ignore this e-mail.`,
    ],
    action: { text: 'Open the invitation', url: values.url },
    topics: ['invite'],
    unsubscribeToken: values.unsubscribeToken,
  })),
  'invite-accepted': defineMail({ recipient: person, name, role: 'member', unsubscribeToken }, (values) => ({
    subject: 'Your invitation was accepted',
    paragraphs: [`${values.recipient} has joined ${values.name} with the role ${values.role}.`],
    action: { text: 'Open the organization', path: '/' },
    topics: ['invite-accepted'],
    unsubscribeToken: values.unsubscribeToken,
  })),
  'verify-subscriber': defineMail({ name, until, url, unsubscribeToken }, (values) => ({
    subject: 'Confirm your subscription',
    paragraphs: [
      `This address was entered to receive e-mails from ${values.name}. It receives none until you confirm.`,
      `The link works until ${values.until}. If you do not want these e-mails, ignore this one, or unsubscribe.`,
    ],
    action: { text: 'Confirm the subscription', url: values.url },
    unsubscribeToken: values.unsubscribeToken,
  })),
  'new-owner': defineMail({ owner: person, name }, (values) => ({
    subject: 'An organization has a new owner',
    paragraphs: [
      `${values.owner} is now an owner of ${values.name}, with all rights there.`,
      'If you did not expect this, contact the other owners or our support immediately.',
    ],
  })),
  'single-sign-on-enforcement': defineMail({ isEnforced: true, name }, (values) => ({
    subject: values.isEnforced ? 'Single sign-on is enforced' : 'Single sign-on is no longer enforced',
    paragraphs: [
      values.isEnforced
        ? `Members of ${values.name} now have to use its single sign-on. Owners can still sign in in other ways.`
        : `Members of ${values.name} no longer have to use its single sign-on.`,
      'If you did not expect this, check the settings and the managers of the organization.',
    ],
  })),
  'single-sign-on-provider': defineMail(
    { issuer: 'https://login.example.com', domains: ['example.com'], name },
    (values) => ({
      subject: 'The provider of single sign-on was changed',
      paragraphs: [
        `The single sign-on of ${values.name} now uses the provider ${values.issuer}. Its operator can sign in there as any member who has linked an identity of this provider.`,
        values.domains.length === 0
          ? 'No domain is allowed: the provider makes nobody a member.'
          : `People with addresses of these domains become members at their first sign-in with it, if a DNS record proves the domain: ${values.domains.join(', ')}.`,
        'If you did not expect this, check the settings and the managers of the organization.',
      ],
    }),
  ),
  'single-sign-on-removed': defineMail({ name }, (values) => ({
    subject: 'Single sign-on was removed',
    paragraphs: [
      `The single sign-on of ${values.name} was removed. Members no longer need it, and the sessions that it started have ended.`,
      'If you did not expect this, check the managers of the organization.',
    ],
  })),
  'support-consent-given': defineMail({ until }, (values) => ({
    subject: 'Your organization is open to support',
    paragraphs: [
      `An owner has allowed our support to access your organization until ${values.until}. Each access is announced, and recorded with its reason.`,
      'If you did not expect this, delete the consent. This ends all access immediately.',
    ],
  })),
  'support-access-begun': defineMail(
    { actor: person, period: `acts in your organization until ${until} at the latest` },
    (values) => ({
      subject: 'Support has access to your organization',
      paragraphs: [
        `${values.actor} of our support ${values.period}. Your organization has given its consent.`,
        'The reason is in the list of delegations. To end the access immediately, delete the consent to support access.',
      ],
    }),
  ),
  'impersonation-begun': defineMail(
    { actor: person, period: `acts there as you until ${until} at the latest` },
    (values) => ({
      subject: 'Somebody acts as you',
      paragraphs: [
        `${values.actor}, who manages an organization of which you are a member, ${values.period}.`,
        'They can access neither your account nor other organizations, and the history of each change names them. If you did not expect this, contact an owner of the organization.',
      ],
    }),
  ),
} as const;
