import { any, flag, integer, list, map, object, secret, text } from '../schema/field.ts';
import { hostOrUrl, httpUrl, ulid } from '../schema/format.ts';

/** `authz`. */
export const authz = object('Connection to OpenFGA, the authorization store, and how the server uses it.', {
  enabled: flag({
    description:
      'Checks permissions in OpenFGA. When off, only the rules of the data layer decide. Off is for tests; leave it on in production.',
    default: true,
    restart: true,
  }),
  storename: text({
    description:
      'Name of the OpenFGA store. When storeid is empty, the server uses the store with this name, and creates it when there is none. When that store belongs to another database, the server uses a store whose name ends with the id of its own installation.',
    default: 'core',
    minLength: 3,
    maxLength: 64,
    required: true,
    restart: true,
  }),
  hosturl: text({
    description: 'URL of the OpenFGA HTTP API.',
    format: httpUrl,
    required: true,
    restart: true,
  }),
  storeid: text({
    description:
      'Id of the OpenFGA store. When empty, the store is looked up by storename. The start fails when the store belongs to another database.',
    format: ulid,
    restart: true,
  }),
  modelid: text({
    description:
      'Id of the authorization model to use. When empty, the server uses the newest model in the store that equals its own, and writes its own when there is none.',
    format: ulid,
    restart: true,
  }),
  createnewmodel: flag({
    description: 'Writes the authorization model at every start, even when the store already has an equal one.',
    restart: true,
  }),
  modelfile: text({
    description:
      'Path of a model file (OpenFGA DSL or JSON) that is written instead of the model the server derives. The file may add types, relations and conditions, and may allow organizations under a condition in parent_context. The start fails when the file lacks or changes a derived relation. The file is not read while modelid is set, because no model is written then.',
    restart: true,
  }),
  modulefile: text({
    description:
      'Path of an OpenFGA module file (`fga.mod`, schema 1.2) that lists the files of a modular model. The rules of modelfile apply. Set at most one of the two.',
    restart: true,
  }),
  credentials: object(
    'Credentials for OpenFGA: either apitoken, or OAuth 2.0 client credentials. When all are empty, requests carry no credentials.',
    {
      apitoken: secret({ description: 'Pre-shared key that is sent as bearer token.', restart: true }),
      clientid: text({ description: 'Client id for the OAuth 2.0 client credentials grant.', restart: true }),
      clientsecret: secret({ description: 'Client secret for the OAuth 2.0 client credentials grant.', restart: true }),
      audience: text({ description: 'Audience that the server requests for the token.', restart: true }),
      issuer: text({
        description:
          'Host name or URL of the token issuer. When it has no path, the token is requested at `/oauth/token`.',
        format: hostOrUrl,
        restart: true,
      }),
      scopes: text({
        description: 'Scopes that the server requests for the token, separated by spaces.',
        restart: true,
      }),
    },
  ),
  maxbatchwritesize: integer({
    description:
      'Maximum number of tuples in one write to OpenFGA. OpenFGA itself rejects more than 100 unless it is configured for more.',
    unit: 'tuples',
    default: 100,
    minimum: 1,
    maximum: 1000,
  }),
  enableparentcontext: flag({
    description:
      'Connects each record to its organization in permission checks (parent-context tuples), so that organization roles and token scopes apply to the record. When off, only rights granted on the record itself apply.',
    default: true,
  }),
  parentcontextskipkinds: list({
    description:
      'Entity kinds without parent-context tuples. Organization roles and token scopes do not apply to their records.',
    items: text({ description: 'Name of an entity kind.', maxLength: 100 }),
  }),
  parentcontextconditions: list({
    description:
      'Conditions on the parent-context tuples of entity kinds. The conditions are defined in the model of modelfile or modulefile. While a condition is false, or cannot be evaluated because OpenFGA is unreachable, organization roles and token scopes do not apply to records of the kind.',
    items: object('Condition of one entity kind.', {
      kind: text({ description: 'Name of the entity kind.', required: true, maxLength: 100 }),
      name: text({ description: 'Name of the condition in the authorization model.', required: true, maxLength: 100 }),
      context: map({
        description: 'Values of the condition parameters, by parameter name.',
        keyLabel: 'parameter',
        values: any({ description: 'Value of the parameter.' }),
      }),
    }),
  }),
});
