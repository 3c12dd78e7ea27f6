// Names for the types of the API that the page uses; api.d.ts, which is generated from the server's structs, has all of them.

type Violation = import("./api").Violation;
type Account = import("./api").Account;
type Session = import("./api").Session;
type Announcement = import("./api").Announcement;
type Schedule = import("./api").Schedule;
type Volume = import("./api").Volume;
type Quiet = import("./api").Quiet;
type Voice = import("./api").Voice;
type Ratings = import("./api").Ratings;
type Form = import("./api").Form;
type Player = import("./api").Player;
type Lineup = import("./api").Lineup;
type GameSide = import("./api").GameSide;
type GameOptions = import("./api").GameOptions;
type Score = import("./api").Score;
type Choice = import("./api").Choice;
type Game = import("./api").Game;
type TeamState = import("./api").TeamState;
type Question = import("./api").Question;
type Play = import("./api").Play;
type BattingLine = import("./api").BattingLine;
type PitchingLine = import("./api").PitchingLine;
type FieldingLine = import("./api").FieldingLine;
type TeamBox = import("./api").TeamBox;
type Content = import("./api").Favorite;
type Club = import("./api").TeamRef;
type Slot = import("./api").Slot;
type State = import("./api").GameState;
type Now = import("./api").Scoreboard;
type EventBody = import("./api").GameEvent;
type Clock = import("./api").GameClock;
type Presence = import("./api").GamePresence;
type Present = import("./api").ManagerPresence;
type Box = import("./api").BoxScore;
type Side = "home" | "away";
/** A frame of the websocket; its type says what d is. */
interface Frame { t: string; g?: string; rev?: number; cid?: string; d?: any }

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

/** What every part of the administration uses. The gate sends requests; when one needs the passphrase again, it asks for it and repeats the request. */
interface AdminShared { me: Account; update: () => Promise<void>; gate: AdminGate }
interface AdminGate { problem: Error | null; run<T>(send: () => Promise<T>): Promise<T | undefined>; render(): unknown }
interface AdminPart { render: () => unknown; close?: () => void }

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
