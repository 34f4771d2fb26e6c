import { flag, object, secret, text } from '../schema/field.ts';

/** `edge`. */
export const edge = object('Edge platform: snapshots, and credentials for the shortlink API.', {
  enabled: flag({ description: 'Serves the snapshot endpoint. Requires apitoken and accountid.' }),
  apitoken: secret({ description: 'API token of the edge platform. Required while enabled.' }),
  accountid: text({ description: 'Account id at the edge platform. Required while enabled.' }),
  clientid: text({
    description: 'Client id for requests to the shortlink API, used while shortlinks.clientid is empty.',
  }),
  clientsecret: secret({
    description: 'Client secret for requests to the shortlink API, used while shortlinks.clientsecret is empty.',
  }),
});
