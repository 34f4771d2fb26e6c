import { any, flag, integer, list, map, object, secret, text } from '../schema/field.ts';
import { hostOrUrl, httpUrl, ulid } from '../schema/format.ts';

/** `authz` (specification: Authorization store). */
export const authz = object('The authorization store (OpenFGA).', {
  enabled: flag({
    description: 'Asks the store; off: only the rules of the data layer decide. For tests; leave on in production.',
    default: true,
    restart: true,
  }),
  storename: text({
    description: 'Name of the store, used to find or create it when storeid is empty.',
    default: 'core',
    minLength: 3,
    maxLength: 64,
    required: true,
    restart: true,
  }),
  hosturl: text({
    description: 'URL of the store API, with scheme.',
    format: httpUrl,
    required: true,
    restart: true,
  }),
  storeid: text({ description: 'Id of the store. Empty: looked up by storename.', format: ulid, restart: true }),
  modelid: text({
    description: 'Id of the authorization model. Empty: the newest one that equals ours.',
    format: ulid,
    restart: true,
  }),
  createnewmodel: flag({
    description: 'Writes the model again at start even when an equal one exists.',
    restart: true,
  }),
  modelfile: text({
    description:
      'Path of a model file to write instead of the derived model: in the language of the store, or JSON. It may add types, relations and conditions, and organizations under a condition to parent_context; one that lacks or changes a derived relation is refused at start. Not read while modelid is set, because nothing is written then.',
    restart: true,
  }),
  modulefile: text({
    description:
      'Path of a module file (fga.mod, schema 1.2: a list of model files that form one model), with the same rules as modelfile.',
    restart: true,
  }),
  credentials: object('How this server identifies itself to the store: apitoken, or the client credentials.', {
    apitoken: secret({ description: 'Pre-shared key.', restart: true }),
    clientid: text({ description: 'Client id for the client-credentials flow.', restart: true }),
    clientsecret: secret({ description: 'Client secret for the client-credentials flow.', restart: true }),
    audience: text({ description: 'Audience of the token asked for.', restart: true }),
    issuer: text({
      description: 'Issuer that gives the token: host name or URL; without a path it is asked at /oauth/token.',
      format: hostOrUrl,
      restart: true,
    }),
    scopes: text({ description: 'Scopes asked for, separated by spaces.', restart: true }),
  }),
  maxbatchwritesize: integer({
    description:
      'Most tuples written to the store in one transaction. The server itself refuses more than 100 unless told otherwise.',
    unit: 'tuples',
    default: 100,
    minimum: 1,
    maximum: 1000,
  }),
  enableparentcontext: flag({
    description:
      'Ties records to their organization when a right is decided (parent-context tuples), so that roles and scopes count; off: only what was given on the records does.',
    default: true,
  }),
  parentcontextskipkinds: list({
    description: 'Entity kinds that get no parent-context tuples; roles and scopes say nothing about their records.',
    items: text({ description: 'An entity kind.', maxLength: 100 }),
  }),
  parentcontextconditions: list({
    description:
      'Conditions put on the parent-context tuples of a kind, of the model of modelfile or modulefile. While one does not hold, or is not known because the store is away, roles and scopes say nothing about records of its kind.',
    items: object('The condition of one kind.', {
      kind: text({ description: 'Entity kind.', required: true, maxLength: 100 }),
      name: text({ description: 'Name of the condition in the model.', required: true, maxLength: 100 }),
      context: map({
        description: 'Parameters of the condition by name.',
        keyLabel: 'parameter',
        values: any({ description: 'Value of the parameter.' }),
      }),
    }),
  }),
});
