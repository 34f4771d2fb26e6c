import { publicApiUrl } from '#config/objects/public-api-url.ts';
import { emailForm } from '#entities/kit/base/email-address.ts';
import type { Config } from '#config/objects/root.ts';
import type { EmailBrand } from './content.ts';

/** Brand of all mails, as configured. @param at the present time, for the notice of copyright */
export function emailBrand(config: Config, at: Date): EmailBrand {
  const { email } = config.integrations;
  const owner = email.Corporation || email.CompanyName;
  const notice = owner && `© ${at.getUTCFullYear()} ${owner}`;
  return {
    from: email.fromemail,
    supportEmail: emailForm(email.supportemail),
    rootUrl: withoutSlash(email.rooturl),
    productUrl: withoutSlash(email.producturl),
    docsUrl: email.docsurl,
    apiUrl: publicApiUrl(config),
    companyName: email.CompanyName,
    companyAddress: email.CompanyAddress,
    logoUrl: email.LogoURL,
    headerLogoUrl: email.HeaderLogoURL,
    copyright: email.Copyright || notice,
    troubleText: email.TroubleText,
    termsUrl: email.TermsURL,
    privacyUrl: email.PrivacyURL,
    unsubscribeUrl: email.UnsubscribeURL,
    headerText: email.HeaderText,
    tagline: email.Tagline,
    cardStyle: email.CardStyle,
    colors: {
      body: email.BodyBackgroundColor,
      card: email.CardBackgroundColor,
      hero: email.HeroBackgroundColor,
      button: email.ButtonColor,
      buttonText: email.ButtonTextColor,
      heading: email.HeadingColor,
      text: email.TextColor,
      footerText: email.FooterTextColor,
      accent: email.AccentBorderColor,
    },
  };
}

export function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}
