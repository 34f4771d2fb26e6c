import { flag, object, secret, text } from '../schema/field.ts';
import { color, emailSender, httpUrl } from '../schema/format.ts';
import { mailAddress } from './mail-formats.ts';

function colorOf(what: string, value: string) {
  return text({ description: `Color of ${what}, as #rrggbb.`, default: value, format: color });
}

const page = (what: string) => text({ description: `URL of ${what}. When empty, it is omitted.`, format: httpUrl });

const theme = {
  CompanyName: text({ description: 'Company name shown in mails. When empty, it is omitted.' }),
  CompanyAddress: text({ description: 'Postal address in the footer. When empty, it is omitted.' }),
  Corporation: text({ description: 'Legal name of the company in the footer. When empty, CompanyName is used.' }),
  LogoURL: page('the large logo'),
  HeaderLogoURL: page('the small logo in the header'),
  Copyright: text({
    description: 'Copyright notice in the footer. When empty, it is made of Corporation and the current year.',
  }),
  TroubleText: text({
    description: 'Help text below action buttons. `{ACTION}` is replaced by the text of the button.',
    default: 'If the button "{ACTION}" does not work, copy this address into your browser:',
  }),
  TermsURL: page('the terms of service in the footer'),
  PrivacyURL: page('the privacy policy in the footer'),
  UnsubscribeURL: text({
    description:
      'Unsubscribe link in the footer. When empty, it is <producturl>/unsubscribe?email=<address of the recipient>#token=<token>, or without producturl the page of this server. Your page sends the token to POST /v1/unsubscribe.',
    format: httpUrl,
  }),
  HeaderText: text({ description: 'Text at the upper right of the modern theme. When empty, it is omitted.' }),
  CardStyle: text({
    description: 'Style of the card around the text.',
    values: ['flat', 'elevated'],
    default: 'elevated',
  }),
  BodyBackgroundColor: colorOf('the page behind the card', '#e8eaed'),
  CardBackgroundColor: colorOf('the card', '#ffffff'),
  HeroBackgroundColor: colorOf('the area behind the large logo', '#f3f4f6'),
  ButtonColor: colorOf('buttons', '#14171e'),
  ButtonTextColor: colorOf('the text of buttons', '#ffffff'),
  HeadingColor: colorOf('headings', '#14171e'),
  TextColor: colorOf('the text', '#43454b'),
  FooterTextColor: colorOf('the text of the footer', '#5f6165'),
  AccentBorderColor: text({
    description: 'Color of the line on top of the card, as #rrggbb. When empty, there is no line.',
    format: color,
  }),
  Tagline: text({
    description: 'Line above the social links in the footer of modern themes. When empty, it is omitted.',
  }),
};

/** `integrations.email`. */
export const emailRuntime = object(
  'E-mail: provider, addresses and theme. The object can be omitted while the server sends no mail.',
  {
    testdir: text({
      description:
        'Folder to which mails are written instead of being sent while server.dev is on. When empty, mails are sent in development as well.',
      default: '.local/email',
    }),
    provider: text({
      description:
        'Provider that sends mails. When empty, no mail is sent, and in production actions that must send a mail are rejected.',
      values: ['', 'providera', 'providerb'],
      default: '',
    }),
    providera: object('Mail provider A. The object can be omitted while it is not selected.', {
      apikey: secret({ description: 'API key. Required while this provider sends the mails.' }),
      webhooksecret: secret({
        description:
          'Secret with which this provider signs the events that it reports. When empty, its events are rejected.',
      }),
    }),
    providerb: object('Mail provider B. The object can be omitted while it is not selected.', {
      servertoken: secret({ description: 'Server token. Required while this provider sends the mails.' }),
      messagestream: text({
        description: 'Name of the message stream that mails are sent through.',
        default: 'outbound',
      }),
      trackopens: flag({ description: 'Requests that the provider tracks when mails are opened.' }),
      tracklinks: text({
        description: 'Parts of a mail in which the provider tracks links.',
        values: ['None', 'HtmlAndText', 'HtmlOnly', 'TextOnly'],
        default: 'None',
      }),
      webhooksecret: secret({
        description:
          'Basic authentication password with which this provider reports events. When empty, its events are rejected.',
      }),
    }),
    fromemail: text({
      description: 'Sender of mails: an address or `Name <address>`. Required while a provider is selected.',
      format: emailSender,
    }),
    supportemail: text({
      description: 'Support address shown in mails. When empty, it is omitted.',
      format: mailAddress,
    }),
    questionnaireemail: text({
      description: 'Sender of questionnaire mails. When empty, fromemail is used.',
      format: emailSender,
    }),
    rooturl: text({
      description: 'Base URL of action links in mails.',
      format: httpUrl,
      fromDomain: (domain) => `https://www.${domain}`,
    }),
    producturl: text({
      description: 'URL of the product, linked in mails.',
      format: httpUrl,
      fromDomain: (domain) => `https://console.${domain}`,
    }),
    docsurl: text({
      description: 'URL of the documentation, linked in mails.',
      format: httpUrl,
      fromDomain: (domain) => `https://docs.${domain}`,
    }),
    apiurl: text({
      description:
        'Base URL of links in mails that call this server directly. Without domain, the default is auth.token.issuer.',
      format: httpUrl,
      fromDomain: (domain) => `https://api.${domain}`,
    }),
    ...theme,
  },
);
