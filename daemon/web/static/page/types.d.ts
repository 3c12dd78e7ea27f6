// Names for the types of the API that the page uses. "make types" makes them from the server's structs, in
// .build/types/api.d.ts.

type Api = import("./api").components["schemas"];
type Account = Api["Account"];
type Announcement = Api["Announcement"];
type BattingLine = Api["BattingLine"];
type Box = Api["BoxScore"];
type Choice = Api["Choice"];
type Clock = Api["GameClock"];
type Club = Api["TeamRef"];
type Content = Api["Favorite"];
type EventBody = Api["GameEvent"];
type FieldingLine = Api["FieldingLine"];
type Form = Api["Form"];
type Game = Api["Game"];
type GameOptions = Api["GameOptions"];
type GameSide = Api["GameSide"];
type Lineup = Api["Lineup"];
type Now = Api["Scoreboard"];
type PitchingLine = Api["PitchingLine"];
type Play = Api["Play"];
type Player = Api["Player"];
type Presence = Api["GamePresence"];
type Present = Api["ManagerPresence"];
type Question = Api["Question"];
type Quiet = Api["Quiet"];
type Ratings = Api["Ratings"];
type Schedule = Api["Schedule"];
type Score = Api["Score"];
type Session = Api["Session"];
type Slot = Api["Slot"];
type State = Api["GameState"];
type TeamBox = Api["TeamBox"];
type TeamState = Api["TeamState"];
type Violation = Api["Violation"];
type Voice = Api["Voice"];
type Volume = Api["Volume"];
type Side = "home" | "away";
/** A frame of the websocket; its type says what d is. */
interface Frame { t: string; g?: string; rev?: number; cid?: string; d?: any }

/** Makes a view. */
type Page = (page: PageContext) => View;
type Problem = import("./ui").Problem;

/** What the root gives to a view. */
interface PageContext {
  params: Record<string, string>;
  query: URLSearchParams;
  me: Account | null;
  update: () => Promise<void>; // resolves after rendering
  go: (path: string, replace?: boolean) => void;
}
interface View {
  title: () => string;
  render: () => unknown;
  updated?: () => void; // called after each rendering
  close?: () => void;
  bare?: boolean; // rendered without header and footer
  awake?: boolean; // keeps the screen on
}

/**
 * What every part of the administration uses. The gate sends requests; when one needs the passphrase again, it asks for
 * it and repeats the request.
 */
interface AdminShared { me: Account; update: () => Promise<void>; gate: AdminGate }
interface AdminGate { problem: Problem | null; run<T>(send: () => Promise<T>): Promise<T | undefined>; render(): unknown }
interface AdminPart { render: () => unknown; close?: () => void }
type Part = (shared: AdminShared) => AdminPart;

// What the page makes of them.

interface Lines { runs: Record<Side, number[]>; hits: Score; errors: Score }
/** The fielders of both sides by position. */
type Nines = Record<Side, Record<string, string>>;
interface Scored { now: Now; lines: Lines; nines: Nines; rev?: number }
/** An event of a game, with the scoreboard after it. */
interface Entry extends Scored {
  rev: number; kind: string; text: string[];
  about: string; // the player whose surname begins the text, or ""
  inning: number; half: "top" | "bottom"; // of the event
  runs: number; // that scored
  win: number | undefined; // the home side's chance to win, 0–1
}
