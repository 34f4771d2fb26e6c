/** Content of a mail, without its layout. */
export interface EmailContent {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** Items of its list, each with a link if there is one. */
  readonly items?: readonly EmailItem[];
  /** A link as a button: a whole URL, or the path of a page of the application, which is left out while no `rooturl` is configured. */
  readonly action?: { readonly text: string; readonly url: string } | { readonly text: string; readonly path: string };
  /** Token with which the recipient ends e-mails of this sort; absent for mails about accounts and security. */
  readonly unsubscribeToken?: string;
  /** Messages that this ends: topics of notifications, or a sort of e-mails; all of the organization when left out. */
  readonly topics?: readonly string[];
}

export interface EmailItem {
  readonly text: string;
  /** A whole URL. */
  readonly url?: string;
}

/** The looks of a mail; an organization chooses one. */
export const emailThemes = ['modern', 'classic'] as const;

export type EmailThemeName = (typeof emailThemes)[number];

/** Texts, addresses and colours of all mails (`integrations.email`); empty texts are left out. */
export interface EmailBrand {
  readonly from: string;
  readonly supportEmail: string;
  readonly rootUrl: string;
  readonly productUrl: string;
  readonly docsUrl: string;
  /** Base of links that lead to the API itself, without a trailing slash. */
  readonly apiUrl: string;
  readonly companyName: string;
  readonly companyAddress: string;
  readonly logoUrl: string;
  readonly headerLogoUrl: string;
  readonly copyright: string;
  readonly troubleText: string;
  readonly termsUrl: string;
  readonly privacyUrl: string;
  readonly unsubscribeUrl: string;
  readonly headerText: string;
  readonly tagline: string;
  readonly cardStyle: 'flat' | 'elevated';
  readonly colors: {
    readonly body: string;
    readonly card: string;
    readonly hero: string;
    readonly button: string;
    readonly buttonText: string;
    readonly heading: string;
    readonly text: string;
    readonly footerText: string;
    /** Empty: no line. */
    readonly accent: string;
  };
}

/** A mail as both themes and the plain text show it: texts without line breaks, and whole URLs. */
export interface EmailView {
  readonly subject: string;
  readonly greeting: string;
  readonly paragraphs: readonly string[];
  readonly items: readonly EmailItem[];
  readonly action: { readonly text: string; readonly url: string; readonly trouble: string } | undefined;
  readonly support: string;
  readonly links: readonly { readonly text: string; readonly url: string }[];
  readonly brand: EmailBrand;
}
