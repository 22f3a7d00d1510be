import Reporting

/// What `bench play` found; its JSON is one object (SEMANTICS §15.5). A load is a frame that one
/// player got.
struct PlayReport: BenchReport {
    /// Of animations that nobody had seen.
    private let first: LoadReport
    /// Of one whose frames the caches have.
    private let again: LoadReport
    private let players: Int
    /// Of one animation.
    private let frames: Int
    /// That nobody had seen.
    private let animations: Int
    /// Pieces of work of decoders for these.
    private let decodes: Int

    init(
        first: LoadFigures, again: LoadFigures, players: Int, frames: Int, animations: Int,
        decodes: Int
    ) {
        self.first = LoadReport(PlayBench.name, first, concurrency: players)
        self.again = LoadReport("play (again)", again, concurrency: players)
        (self.players, self.frames, self.animations) = (players, frames, animations)
        self.decodes = decodes
    }

    enum CodingKeys: String, CodingKey {
        case again, players, frames, animations, decodes
    }

    func encode(to encoder: any Encoder) throws {
        try first.encode(to: encoder)
        var own = encoder.container(keyedBy: CodingKeys.self)
        try own.encode(again, forKey: .again)
        for (key, number) in [
            (CodingKeys.players, players), (.frames, frames), (.animations, animations),
            (.decodes, decodes),
        ] { try own.encode(number, forKey: key) }
    }

    var text: String {
        TextTable.text(LoadReport.header, [first.row, again.row])
            + "\n\(players) players of \(animations) animations of \(frames) frames: decoders "
            + "worked \(decodes) times for the first row\n"
    }
}
