import { flag, integer, list, object, secret, text } from '../schema/field.ts';
import { domainName, httpUrl } from '../schema/format.ts';

const llm = object('The language model that summarizes when type is `llm`.', {
  provider: text({
    description: 'Which language model service to use.',
    values: ['none', 'llma', 'llmb', 'llmc'],
    default: 'none',
  }),
  llma: object('Language model service A.', {
    betaheader: text({ description: 'Value of the header that asks for beta features. Empty: header left out.' }),
    legacytextcompletion: flag({ description: 'Uses the older text-completion call instead of messages.' }),
    baseurl: text({ description: 'Base URL of the service. Empty: its public one.', format: httpUrl }),
    model: text({ description: 'Model name.' }),
    apikey: secret({ description: 'API key.' }),
  }),
  llmb: object('Language model service B.', {
    model: text({ description: 'Model name.' }),
    apikey: secret({ description: 'API key.' }),
    accountid: text({ description: 'Account that pays for the calls.' }),
    serverurl: text({ description: 'URL of the service. Empty: its public one.', format: httpUrl }),
  }),
  llmc: object('Language model service C.', {
    model: text({ description: 'Model name.' }),
    apikey: secret({ description: 'API key.' }),
    url: text({ description: 'URL of the service. Empty: its public one.', format: httpUrl }),
    organizationid: text({ description: 'Organization at the service that pays for the calls.' }),
  }),
});

const mailDomain = text({
  description: 'The part of an address after the @; subdomains do not count.',
  format: domainName,
});

/** `ormconfig` (specification: Data layer). */
export const ormconfig = object('Data layer, module access, summarizer, e-mail validation, billing, notifications.', {
  entitytypes: list({
    description: 'Entity types created for every new organization.',
    items: text({ description: 'Name of an entity type.', maxLength: 100 }),
  }),
  summarizer: object('Summaries of long texts.', {
    type: text({
      description: 'Algorithm: `lexrank` picks the most central sentences, `llm` asks a language model.',
      values: ['lexrank', 'llm'],
      default: 'lexrank',
    }),
    maximumsentences: integer({
      description: 'Longest summary.',
      unit: 'sentences',
      default: 10,
      minimum: 1,
      maximum: 1000,
    }),
    llm,
  }),
  maxpoolsize: integer({
    description:
      'How many units of work of the data client may have, or wait for, a database connection at the same time; more are refused with 503.',
    unit: 'units of work',
    default: 200,
    minimum: 1,
    maximum: 10_000,
    restart: true,
  }),
  modules: object('Which product modules an organization may use.', {
    enabled: flag({
      description: 'Checks module access; off: every organization may use every module.',
      default: true,
    }),
    usesandbox: flag({ description: 'Uses the sandbox catalog of modules and prices for the checks.' }),
    devmode: flag({ description: 'All modules are on, whatever the trial status says. For development.' }),
  }),
  maxschemaimportsize: integer({
    description: 'Largest schema file that an import accepts.',
    unit: 'bytes',
    default: 262_144,
    minimum: 1024,
    maximum: 104_857_600,
  }),
  emailvalidation: object('Checks of e-mail addresses at sign-up and invitation.', {
    enabled: flag({ description: 'Checks more than the form of an address.' }),
    enableautoupdatedisposable: flag({
      description: 'Refreshes the list of disposable-address domains automatically.',
      default: true,
    }),
    enablegravatarcheck: flag({
      description: 'Looks for a profile at the avatar service, as a sign that the address is used.',
      default: true,
    }),
    enablesmtpcheck: flag({ description: 'Asks the mail server of the domain whether the address exists.' }),
    allowedemailtypes: object('Kinds of addresses accepted although validation is on.', {
      disposable: flag({ description: 'Accepts addresses of throw-away services.' }),
      free: flag({ description: 'Accepts addresses of free mail services.' }),
      role: flag({ description: 'Accepts role addresses such as admin@.' }),
    }),
    blockeddomains: list({ description: 'Domains whose addresses are always refused.', items: mailDomain }),
  }),
  billing: object('When an organization must pay.', {
    requirepaymentmethod: flag({
      description: 'An organization needs a payment method before it may use some resources.',
    }),
    bypassemaildomains: list({
      description: 'Organizations created by addresses of these domains need no payment method.',
      items: mailDomain,
    }),
  }),
  notifications: object('Notifications to users.', {
    consoleurl: text({
      description: 'Base URL of links to the user interface in notifications.',
      format: httpUrl,
      fromDomain: (domain) => `https://console.${domain}`,
    }),
  }),
  questionnaireproducturl: text({
    description: 'Base URL of the links that give access to a questionnaire. Empty: integrations.email.producturl.',
    format: httpUrl,
  }),
});
