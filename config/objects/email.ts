import { flag, object, secret, text } from '../schema/field.ts';
import { colour, emailAddress, emailSender, httpUrl } from '../schema/format.ts';

function colourOf(what: string, value: string) {
  return text({ description: `Colour of ${what}, as #rrggbb.`, default: value, format: colour });
}

const page = (what: string) => text({ description: `URL of ${what}. Empty: left out.`, format: httpUrl });

const theme = {
  CompanyName: text({ description: 'Company name shown in mails. Empty: left out.' }),
  CompanyAddress: text({ description: 'Mailing address in the footer. Empty: left out.' }),
  Corporation: text({ description: 'Legal name in the footer. Empty: CompanyName.' }),
  LogoURL: page('the large logo'),
  HeaderLogoURL: page('the small logo in the header'),
  Copyright: text({ description: 'Footer notice. Empty: made from Corporation and the current year.' }),
  TroubleText: text({
    description: 'Help text below action buttons; `{ACTION}` becomes the text of the button.',
    default: 'If the button "{ACTION}" does not work, copy this address into your browser:',
  }),
  TermsURL: page('the terms of service in the footer'),
  PrivacyURL: page('the privacy policy in the footer'),
  UnsubscribeURL: text({
    description: 'Unsubscribe link in the footer. Empty: made from producturl and the address of the recipient.',
    format: httpUrl,
  }),
  HeaderText: text({ description: 'Text at the upper right of the modern theme. Empty: left out.' }),
  CardStyle: text({
    description: 'Look of the card around the text.',
    values: ['flat', 'elevated'],
    default: 'elevated',
  }),
  BodyBackgroundColor: colourOf('the page behind the card', '#e8eaed'),
  CardBackgroundColor: colourOf('the card', '#ffffff'),
  HeroBackgroundColor: colourOf('the area behind the large logo', '#f3f4f6'),
  ButtonColor: colourOf('buttons', '#14171e'),
  ButtonTextColor: colourOf('the text of buttons', '#ffffff'),
  HeadingColor: colourOf('headings', '#14171e'),
  TextColor: colourOf('the text', '#43454b'),
  FooterTextColor: colourOf('the text of the footer', '#5f6165'),
  AccentBorderColor: text({
    description: 'Colour of the line on top of the card, as #rrggbb. Empty: no line.',
    format: colour,
  }),
  Tagline: text({ description: 'Line above the social row in the footer of modern themes. Empty: left out.' }),
};

/** `integrations.email` (specification: Email runtime). */
export const email = object('E-mail: provider, addresses and theme. May be left out while no mail leaves the server.', {
  testdir: text({
    description:
      'Folder that mails are written to instead of being sent when server.dev is on. Empty: they are sent in development too.',
    default: '.local/email',
  }),
  provider: text({
    description: 'Provider that sends the mails. Empty: no mail is sent; in production, what needs one is refused.',
    values: ['', 'providera', 'providerb'],
    default: '',
  }),
  providera: object('Provider A. May be left out while it is not selected.', {
    apikey: secret({ description: 'API key. Required while this provider sends the mails.' }),
    webhooksecret: secret({ description: 'Signing secret of its webhooks; without it they are refused.' }),
  }),
  providerb: object('Provider B. May be left out while it is not selected.', {
    servertoken: secret({ description: 'Server token. Required while this provider sends the mails.' }),
    messagestream: text({ description: 'Message stream that mails are sent through.', default: 'outbound' }),
    trackopens: flag({ description: 'Asks the provider to track opens.' }),
    tracklinks: text({
      description: 'In which parts of a mail the provider tracks links.',
      values: ['None', 'HtmlAndText', 'HtmlOnly', 'TextOnly'],
      default: 'None',
    }),
    webhooksecret: secret({ description: 'Basic-auth password of its webhooks; without it they are refused.' }),
  }),
  fromemail: text({
    description: 'Sender: an address or `Name <address>`. Required while a provider is selected.',
    format: emailSender,
  }),
  supportemail: text({ description: 'Support address shown in mails. Empty: left out.', format: emailAddress }),
  questionnaireemail: text({ description: 'Sender of questionnaire mails. Empty: fromemail.', format: emailSender }),
  rooturl: text({
    description: 'Base URL of action links.',
    format: httpUrl,
    fromDomain: (domain) => `https://www.${domain}`,
  }),
  producturl: text({
    description: 'Home of the product.',
    format: httpUrl,
    fromDomain: (domain) => `https://console.${domain}`,
  }),
  docsurl: text({
    description: 'Home of the documentation.',
    format: httpUrl,
    fromDomain: (domain) => `https://docs.${domain}`,
  }),
  apiurl: text({
    description: 'Base URL of links in mails that call this server directly. Empty: auth.token.issuer.',
    format: httpUrl,
    fromDomain: (domain) => `https://api.${domain}`,
  }),
  ...theme,
});
