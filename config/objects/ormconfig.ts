import { flag, integer, list, object, secret, text } from '../schema/field.ts';
import { httpUrl, singleLineName } from '../schema/format.ts';
import { mailDomain } from './mail-formats.ts';

const llm = object('Language model that writes summaries while type is `llm`.', {
  provider: text({
    description: 'Language model service that is used.',
    values: ['none', 'llma', 'llmb', 'llmc'],
    default: 'none',
  }),
  llma: object('Language model service A.', {
    betaheader: text({
      description: 'Value of the header that requests beta features. When empty, the header is omitted.',
    }),
    legacytextcompletion: flag({ description: 'Uses the legacy text completion API instead of the messages API.' }),
    baseurl: text({ description: 'Base URL of the service. When empty, its public URL is used.', format: httpUrl }),
    model: text({ description: 'Name of the model.' }),
    apikey: secret({ description: 'API key.' }),
  }),
  llmb: object('Language model service B.', {
    model: text({ description: 'Name of the model.' }),
    apikey: secret({ description: 'API key.' }),
    accountid: text({ description: 'Id of the account that is billed for the calls.' }),
    serverurl: text({ description: 'URL of the service. When empty, its public URL is used.', format: httpUrl }),
  }),
  llmc: object('Language model service C.', {
    model: text({ description: 'Name of the model.' }),
    apikey: secret({ description: 'API key.' }),
    url: text({ description: 'URL of the service. When empty, its public URL is used.', format: httpUrl }),
    organizationid: text({ description: 'Id of the organization at the service that is billed for the calls.' }),
  }),
});

const mailDomainField = text({
  description: 'Domain of an e-mail address: the part after the @. Subdomains do not match.',
  format: mailDomain,
});

/** `ormconfig`. */
export const ormconfig = object(
  'Data layer, product modules, summaries, e-mail validation, billing and notifications.',
  {
    entitytypes: list({
      description: 'Names of entity types that are created for every new organization.',
      items: text({ description: 'Name of an entity type.', maxLength: 64, format: singleLineName }),
    }),
    summarizer: object('Summaries of long texts.', {
      type: text({
        description: 'Algorithm: `lexrank` extracts the most central sentences, `llm` uses a language model.',
        values: ['lexrank', 'llm'],
        default: 'lexrank',
      }),
      maximumsentences: integer({
        description: 'Maximum length of a summary.',
        unit: 'sentences',
        default: 10,
        minimum: 1,
        maximum: 1000,
      }),
      llm,
    }),
    maxpoolsize: integer({
      description:
        'Maximum number of units of work in one process that may hold or wait for a database connection at the same time. A request or an activity is one unit of work. Beyond this number, the server rejects with 503 the units of work that have the most others of their organization waiting ahead of them.',
      unit: 'units of work',
      default: 200,
      minimum: 1,
      maximum: 10_000,
      restart: true,
    }),
    modules: object('Access to product modules.', {
      enabled: flag({
        description:
          'Checks whether an organization has a product module before its records are used. When off, every organization may use every module. While subscription.enabled is off, an organization has the modules that an operator has granted.',
        default: true,
      }),
      usesandbox: flag({
        description:
          'Uses the catalogue of modules and prices for the sandbox of the payment provider, in place of that for real payments.',
      }),
      devmode: flag({
        description: 'Every organization has every product module, whatever the state of its trial. For development.',
      }),
    }),
    maxschemaimportsize: integer({
      description: 'Maximum size of a document (CSV) that an import accepts, as a text or as a file.',
      unit: 'bytes',
      default: 262_144,
      minimum: 1024,
      maximum: 104_857_600,
    }),
    emailvalidation: object(
      'Validation of e-mail addresses at sign-up, at invitation, and when people change their own address.',
      {
        enabled: flag({
          description:
            'Checks which type an address has, and whether its domain has a mail server (MX). When off, only the syntax of an address and blockeddomains are checked. An address is accepted if the services asked do not answer in time.',
        }),
        enableautoupdatedisposable: flag({
          description:
            'Updates the list of disposable e-mail domains once a day, in the background. If that fails, the last list stays in use. When off, the list is that of this release.',
          default: true,
        }),
        enablegravatarcheck: flag({
          description:
            'Looks up a profile at the avatar service (Gravatar), which gets the SHA-256 hash of the address. An address with a profile is in use, so enablesmtpcheck does not ask its mail server.',
          default: true,
        }),
        enablesmtpcheck: flag({
          description:
            'Asks the mail server of the domain (SMTP, port 25) whether the address exists. Only a clear refusal makes the address invalid.',
        }),
        allowedemailtypes: object('Types of addresses that are accepted while validation is on.', {
          disposable: flag({ description: 'Accepts addresses of disposable e-mail services.' }),
          free: flag({ description: 'Accepts addresses of free e-mail services.' }),
          role: flag({ description: 'Accepts role addresses such as `admin@`.' }),
        }),
        blockeddomains: list({
          description: 'Domains whose addresses are always rejected, with all domains below them.',
          items: mailDomainField,
        }),
      },
    ),
    billing: object('When an organization needs a payment method.', {
      requirepaymentmethod: flag({
        description:
          'An organization needs a payment method before API tokens, personal tokens and integrations are created in it. Personal organizations need none. Requires subscription.enabled.',
      }),
      bypassemaildomains: list({
        description:
          'Organizations whose founder has a confirmed e-mail address in one of these domains need no payment method; the domain must be the same.',
        items: mailDomainField,
      }),
    }),
    notifications: object('Notifications to users.', {
      consoleurl: text({
        description:
          'Base URL of links to the user interface in notifications: the path of the page of a record follows it. When empty, notifications are sent without links.',
        format: httpUrl,
        fromDomain: (domain) => `https://console.${domain}`,
      }),
    }),
    questionnaireproducturl: text({
      description:
        'Base URL of links that give access to a questionnaire. When empty, integrations.email.producturl is used.',
      format: httpUrl,
    }),
  },
);
