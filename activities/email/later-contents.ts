import { defineMail, sample } from './mail-definition.ts';

const { organization: name, person, until, url, unsubscribeToken } = sample;

/** Mails about records that come with later features: what they say is decided, and only the look-up is missing. */
export const laterContents = {
  'verify-billing': defineMail({ url }, (values) => ({
    subject: 'Confirm the address for invoices',
    paragraphs: [
      'This address was entered to receive the invoices of an organization. If you did not expect this, ignore this e-mail.',
    ],
    action: { text: 'Confirm the address', url: values.url },
  })),
  'billing-email-changed': defineMail({ name, from: person, to: person, at: until }, (values) => ({
    subject: 'The address for invoices was changed',
    paragraphs: [
      `Invoices of ${values.name} went to ${values.from}, and have gone to ${values.to} since ${values.at}.`,
      'If you did not expect this, contact the owners of the organization or our support.',
    ],
  })),
  'organization-deletion-notice': defineMail({ name, at: until }, (values) => ({
    subject: `${values.name} will be deleted`,
    paragraphs: [
      `${values.name} has no payment method and no subscription. It will be deleted with all its records on ${values.at}.`,
      'To keep it, add a payment method before that day.',
    ],
    action: { text: 'Add a payment method', path: '/billing' },
  })),
  'nda-request': defineMail({ name, url }, (values) => ({
    subject: `Sign the agreement with ${values.name}`,
    paragraphs: [
      `You asked ${values.name} for access to its documents. You can read them once you have signed the agreement.`,
    ],
    action: { text: 'Read and sign', url: values.url },
  })),
  'nda-signed': defineMail({ name, url }, (values) => ({
    subject: `Your agreement with ${values.name}`,
    paragraphs: [`You have signed the agreement with ${values.name}. The signed document is attached.`],
    action: { text: 'Open the documents', url: values.url },
  })),
  'trust-center-access': defineMail({ name, url }, (values) => ({
    subject: `Your access to the documents of ${values.name}`,
    paragraphs: ['You have already signed the agreement. The link opens the documents. Do not share it.'],
    action: { text: 'Open the documents', url: values.url },
  })),
  'nda-approval-request': defineMail({ name, requester: person }, (values) => ({
    subject: 'A request for access to documents',
    paragraphs: [
      `${values.requester} asks for access to the documents of ${values.name}. The request waits for approval.`,
    ],
    action: { text: 'Open the request', path: '/trust-center/NDAs' },
    unsubscribeToken,
  })),
  questionnaire: defineMail({ name, assessment: 'Security of suppliers', url }, (values) => ({
    subject: `${values.name} asks you to answer a questionnaire`,
    paragraphs: [`${values.name} asks you to answer “${values.assessment}”. Do not share the link.`],
    action: { text: 'Open the questionnaire', url: values.url },
    isAboutQuestionnaire: true,
  })),
  'subprocessors-changed': defineMail(
    { name, changes: ['Example Hosting was added'], url, unsubscribeToken },
    (values) => ({
      subject: `${values.name} has changed its subprocessors`,
      paragraphs: values.changes.map((change) => `${change}.`),
      action: { text: 'See all subprocessors', url: values.url },
      unsubscribeToken: values.unsubscribeToken,
    }),
  ),
  'trust-center-update': defineMail(
    { name, title: 'A new certificate', text: 'The certificate of this year is published.', url, unsubscribeToken },
    (values) => ({
      subject: `${values.name}: ${values.title}`,
      paragraphs: [values.text],
      action: { text: 'Read more', url: values.url },
      unsubscribeToken: values.unsubscribeToken,
    }),
  ),
  'branded-message': defineMail(
    {
      name,
      subject: 'Our new policies',
      preheader: 'What changes for you',
      title: 'New policies from June on',
      intros: ['We have new policies for the work with suppliers.', 'Please read them before you order again.'],
      buttonText: 'Read the policies',
      buttonLink: url,
      outros: ['Thank you for your help.'],
      unsubscribeToken,
    },
    (values) => ({
      subject: values.subject,
      preheader: values.preheader,
      heading: values.title,
      paragraphs: values.intros,
      action: { text: values.buttonText, url: values.buttonLink },
      closing: [...values.outros, `This message was sent for ${values.name}.`],
      unsubscribeToken: values.unsubscribeToken,
    }),
  ),
} as const;
