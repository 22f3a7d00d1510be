import ImageModel
import Messages
import YAML

/// What the lists of a pool may name: a name that no worker has would be granted in vain.
struct GrantedNames {
    /// The key of the list.
    private let key: String
    /// What it names.
    private let what: String
    /// What workers of the own program have.
    private let own: [String]
    /// What own workers of the pool that draws have in its place.
    private var drawing: [String]?
    /// What workers of somebody else's program can have; nil: whatever they say.
    private var foreign: [String]?

    private static let format = "format"
    private static let schemes = LoaderKind.allCases.flatMap { $0.schemes.sorted() }
    private static let formats =
        ImageFormat.allCases.filter { $0 != .undefined }.map(\.name) + [ImageFormat.undefined.name]
    private static let lists = [
        GrantedNames(key: "schemes", what: "scheme", own: schemes),
        GrantedNames(
            key: "formats-in", what: format, own: ImageFormat.decodable(.raster).map(\.name),
            drawing: ImageFormat.decodable(.vector).map(\.name), foreign: formats),
        GrantedNames(
            key: "formats-out", what: format, own: ImageFormat.encodable.map(\.name),
            foreign: ImageFormat.possiblyEncoded.filter { $0 != .pam }.map(\.name)),
        GrantedNames(key: "steps", what: "step", own: TransformStep.ownNames),
    ]

    /// Objects to each name of a pool that none of its workers can have.
    static func check(_ node: YAMLNode, _ pool: WorkerPool, _ reading: inout Reading) {
        guard case .map(let entries) = node.content else { return }
        for entry in entries {
            guard let list = lists.first(where: { $0.key == entry.key }) else { continue }
            let items = if case .list(let all) = entry.value.content { all } else { [entry.value] }
            // Of more there is one fault.
            guard items.count <= WorkerCapabilities.entriesMax else { continue }
            for item in items { list.check(item, pool, &reading) }
        }
    }

    /// What is no name at all was objected to before.
    private func check(_ item: YAMLNode, _ pool: WorkerPool, _ reading: inout Reading) {
        guard case .scalar(let name) = item.content, WorkerCapabilities.isEntry(name),
            let known = known(to: pool), !known.contains(entry(name))
        else { return }
        let isDrawn = pool.trust == .own && drawing?.contains(entry(name)) == true
        let whose =
            isDrawn
            ? "only those of the pool 'vector' draw; other workers of the own program have"
            : pool.trust == .own ? "workers of the own program have" : "there is"
        // A word for a format means this format and no other one.
        let isMeant = isOfFormats && ImageFormat(name: name) != nil
        let meant = isMeant ? nil : Nearness.nearest(name, known)
        let hint = meant.map { ", did you mean '\($0)'? There are " } ?? ": there are "
        reading.object(
            item.line,
            "\(key): \(whose) no \(what) '\(name)'\(hint)\(known.joined(separator: ", "))")
    }

    /// Nil: whatever they say.
    private func known(to pool: WorkerPool) -> [String]? {
        switch (pool.trust, pool.name.family) {
        case (.foreign, _): foreign
        case (.own, .vector): drawing ?? own
        case (.own, .raster): own
        }
    }

    private var isOfFormats: Bool { what == Self.format }

    private func entry(_ name: String) -> String { isOfFormats ? Self.format(name) : name }

    /// What stands in the list for a word: the name of a format, whichever word for it was written.
    static func format(_ word: String) -> String { ImageFormat(name: word)?.name ?? word }
}
