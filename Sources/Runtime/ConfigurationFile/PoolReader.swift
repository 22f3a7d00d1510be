import Model
import YAML

extension ValueReader where Value == [WorkerPool] {
    /// Worker pools by name, in the order of the file, which determines the order in which pools
    /// are tried.
    static let pools = ValueReader { node, name, reading in
        guard let entries = reading.named(node, name) else { return nil }
        let pools = entries.compactMap {
            PoolDraft.pool($0, at: "\(name).\($0.key.prefix(64))", &reading)
        }
        if pools.count(where: { !$0.isBuiltIn }) > WorkerPools.furtherMax {
            reading.report(
                node.line, "\(name): at most \(WorkerPools.furtherMax) pools can be added")
        }
        return pools
    }
}

/// One pool as written in the file, before validation.
private struct PoolDraft: Sendable {
    var kind: WorkerKind?
    var trust: WorkerPool.Trust?
    var grant = WorkerCapabilities.all
    var workers: Int?
    var credit: Int?
    var outputMebibytes: Int?
    var command: [String]?
}

extension KeyTable where Target == PoolDraft {
    fileprivate static let pool = KeyTable([
        Row(
            "kind", .word(WorkerPool.externalKinds.map { ($0.name, $0) }),
            \.kind),
        Row(
            "trust",
            .word(
                WorkerPool.Trust.allCases.map { ($0.name, $0) },
                formerly: WorkerPool.Trust.formerNames),
            \.trust),
        Row("schemes", .capabilities("URL schemes such as https"), \.grant.schemes),
        Row("formats-in", .formats, \.grant.formatsIn),
        Row("formats-out", .formats, \.grant.formatsOut),
        Row("steps", .capabilities("step names such as resize"), \.grant.steps),
        Row(
            "workers", .count(1...256, "requests would wait forever in a pool without workers"),
            \.workers),
        Row("credit", .count(1...256), \.credit),
        Row("output-mebibytes", .count(1...65_536), \.outputMebibytes),
        Row("command", .list(of: .commandWord), \.command),
    ])
}

extension ValueReader where Value == Set<String> {
    /// Canonical format names, whichever alias was written.
    fileprivate static let formats = capabilities(
        "format names such as jpeg", GrantedNames.format)

    /// A list of capabilities granted to a pool; `name` maps each word to its canonical name.
    fileprivate static func capabilities(
        _ what: String, _ name: @escaping @Sendable (String) -> String = { $0 }
    ) -> ValueReader {
        let entry = ValueReader<String>.scalar("\(what), of letters, digits, '.', '_', '+' and '-'")
        {
            WorkerCapabilities.isEntry($0) ? name($0) : nil
        }
        return ValueReader<[String]>.list(
            of: entry, atMost: WorkerCapabilities.entriesMax, "entries are accepted"
        ).map { Set($0) }
    }
}

extension ValueReader where Value == String {
    fileprivate static let commandWord = scalar(
        "a word of at most \(WorkerPool.commandWordBytesMax) bytes"
    ) { text in
        text.utf8.count <= WorkerPool.commandWordBytesMax && !text.utf8.contains(0) ? text : nil
    }
}

extension ValueReader where Value == Int {
    /// A number, called `noun` in errors, which also state the reason for its range.
    static func count(
        _ range: ClosedRange<Int>, _ reason: String? = nil, of noun: String = "a number"
    ) -> ValueReader {
        let numbers = "\(noun) from \(range.lowerBound) to \(range.upperBound)"
        return scalar(numbers + (reason.map { " (\($0))" } ?? "")) { text in
            Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

/// Why a pool or a loader is rejected.
struct InvalidEntry: Error, Equatable {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}

extension PoolDraft {
    /// Reads and validates one pool; `path` names it in errors.
    fileprivate static func pool(
        _ entry: YAMLEntry, at path: String, _ reading: inout Reading
    ) -> WorkerPool? {
        let node = entry.value
        var draft = PoolDraft()
        if !node.isEmpty { KeyTable.pool.read(node, path, into: &draft, &reading) }
        do throws(InvalidEntry) {
            let pool = try draft.pool(entry.key)
            GrantedNames.check(node, pool, &reading)
            return pool
        } catch {
            // An invalid kind was already reported.
            if error != kindMissing || !node.has("kind") {
                reading.report(entry.line, "\(path): \(error.reason)")
            }
            return nil
        }
    }

    private static let kindMissing = InvalidEntry(
        "'kind' is missing: specify one of "
            + WorkerPool.externalKinds.map(\.name).joined(separator: ", "))

    private func pool(_ key: String) throws(InvalidEntry) -> WorkerPool {
        guard let name = PoolName(key), key != WorkerKind.coordinator.name else {
            throw InvalidEntry(
                "a pool name must start with a lowercase letter, followed by lowercase letters, "
                    + "digits and '-', at most \(PoolName.bytesMax) characters in total")
        }
        let builtIn = WorkerKind(name: key)
        if builtIn == .cache {
            throw InvalidEntry("the built-in pool 'cache' cannot be configured")
        }
        let usual = name == .vector ? WorkerPool.vector(workers: 1) : nil
        guard let kind = kind ?? builtIn ?? usual?.kind else { throw Self.kindMissing }
        if let usual, kind != usual.kind || trust == .external {
            throw InvalidEntry(
                "this name is reserved for the built-in decoders of vector images: choose another "
                    + "name")
        }
        if let builtIn, builtIn != kind || trust == .external || workers != nil {
            throw InvalidEntry(
                "this pool is built in, and only its grant and limits can be changed: choose "
                    + "another name for a new pool")
        }
        guard WorkerPool.kinds.contains(kind) || trust == .external else {
            throw InvalidEntry(
                "an additional pool of kind \(kind.name) must be external: set "
                    + "'trust: external', and name the pool in the caches that it serves")
        }
        var pool = WorkerPool(name: name, kind: kind)
        pool.trust = trust ?? .own
        pool.grant = grant
        pool.grant.formatsIn = grant.formatsIn ?? usual?.grant.formatsIn
        try check(pool)
        if pool.isExternalTransformer { grantPixels(&pool.grant) }
        pool.command = command
        let isStarted = pool.trust == .own ? !pool.isBuiltIn : pool.command != nil
        pool.workers = isStarted ? workers ?? 1 : 0
        pool.credit = credit.map { UInt32($0) }
        pool.outputBytesMax = outputMebibytes.map { UInt64($0) << 20 }
        return pool
    }

    /// Restricts the grant of an external pool to what its lists name. A pool that performs steps
    /// can also output pixels.
    private func grantPixels(_ grant: inout WorkerCapabilities) {
        grant.steps = grant.steps ?? []
        grant.formatsOut = grant.formatsOut ?? []
        if grant.steps?.isEmpty == false { grant.formatsOut?.insert(ImageFormat.pam.name) }
    }

    private func check(_ command: [String], _ pool: WorkerPool) throws(InvalidEntry) {
        guard pool.trust == .external else {
            throw InvalidEntry(
                "'command' requires 'trust: external': serve starts its own program for this pool")
        }
        guard command.first?.hasPrefix("/") == true, command.count <= WorkerPool.commandWordsMax
        else {
            throw InvalidEntry(
                "'command' must be the absolute path of a program and its arguments, at most "
                    + "\(WorkerPool.commandWordsMax) words; it is not run by a shell")
        }
    }

    /// Validates an external transform pool: it receives pixels, and returns pixels or an image.
    private func checkExternalTransformer() throws(InvalidEntry) {
        guard grant.steps != nil || grant.formatsOut != nil else {
            throw InvalidEntry(
                "'steps' or 'formats-out' is missing: an external pool ('trust: external') is "
                    + "granted only what is listed")
        }
        guard let name = grant.steps?.sorted().first(where: { !CustomStep.isName($0) }) else {
            return
        }
        throw InvalidEntry(
            "'\(name)' is not a valid step of an external pool ('trust: external'): expected "
                + "VENDOR.STEP in lowercase letters, digits, '_' and '-'")
    }

    /// Checks that each list applies to the pool's kind and that an external pool has the required
    /// lists.
    private func check(_ pool: WorkerPool) throws(InvalidEntry) {
        let lists: [(key: String, isNamed: Bool, kind: WorkerKind)] = [
            ("schemes", grant.schemes != nil, .download),
            ("formats-in", grant.formatsIn != nil, .decode),
            ("formats-out", grant.formatsOut != nil, .transform),
            ("steps", grant.steps != nil, .transform),
        ]
        for list in lists {
            if list.isNamed, list.kind != pool.kind {
                throw InvalidEntry(
                    "'\(list.key)' does not apply to a pool of kind \(pool.kind.name)")
            }
            let isNeeded = list.kind == pool.kind && pool.kind != .transform
            if !list.isNamed, isNeeded, pool.trust == .external {
                throw InvalidEntry(
                    "'\(list.key)' is missing: an external pool ('trust: external') is granted "
                        + "only what is listed")
            }
        }
        if pool.isExternalTransformer { try checkExternalTransformer() }
        if pool.trust == .external, workers != nil, command == nil {
            throw InvalidEntry(
                "'workers' requires 'command' in an external pool ('trust: external'): without a "
                    + "command its workers are started separately")
        }
        if let command { try check(command, pool) }
        if let credit, pool.trust == .own, credit > Int(pool.kind.creditMax) {
            throw InvalidEntry(
                "'credit' must be at most \(pool.kind.creditMax) for built-in \(pool.kind.name) "
                    + "workers")
        }
    }
}

/// The names that a list of a pool may contain: a name that no worker supports would have no
/// effect.
struct GrantedNames {
    /// The key of the list.
    private let key: String
    /// The noun for a listed item, used in errors.
    private let what: String
    /// The names that built-in workers support.
    private let own: [String]
    /// The names that built-in workers of the drawing pool support instead of `own`.
    private var drawing: [String]?
    /// The names that external workers can support; nil if any name is possible.
    private var external: [String]?

    private static let format = "format"
    private static let schemes = LoaderKind.allCases.flatMap { $0.schemes.sorted() }
    private static let formats =
        ImageFormat.allCases.filter { $0 != .undefined }.map(\.name) + [ImageFormat.undefined.name]
    private static let lists = [
        GrantedNames(key: "schemes", what: "scheme", own: schemes),
        GrantedNames(
            key: "formats-in", what: format, own: ImageFormat.decodable(.raster).map(\.name),
            drawing: ImageFormat.decodable(.vector).map(\.name), external: formats),
        GrantedNames(
            key: "formats-out", what: format, own: ImageFormat.encodable.map(\.name),
            external: ImageFormat.possiblyEncoded.filter { $0 != .pam }.map(\.name)),
        GrantedNames(key: "steps", what: "step", own: TransformStep.ownNames),
    ]

    /// Reports each name in a pool's lists that none of its workers can support.
    static func check(_ node: YAMLNode, _ pool: WorkerPool, _ reading: inout Reading) {
        guard case .map(let entries) = node.content else { return }
        for entry in entries {
            guard let list = lists.first(where: { $0.key == entry.key }) else { continue }
            let items = if case .list(let all) = entry.value.content { all } else { [entry.value] }
            // An overlong list was already reported once.
            guard items.count <= WorkerCapabilities.entriesMax else { continue }
            for item in items { list.check(item, pool, &reading) }
        }
    }

    /// An item that isn't a valid name was already reported.
    private func check(_ item: YAMLNode, _ pool: WorkerPool, _ reading: inout Reading) {
        guard case .scalar(let name) = item.content, WorkerCapabilities.isEntry(name),
            let known = known(to: pool), !known.contains(entry(name))
        else { return }
        let isDrawn = pool.trust == .own && drawing?.contains(entry(name)) == true
        let fault =
            isDrawn
            ? "the \(what) '\(name)' is decoded by the pool 'vector' only"
            : pool.trust == .own
                ? "built-in workers do not support the \(what) '\(name)'"
                : "unknown \(what) '\(name)'"
        // A word for a format means this format and no other one.
        let isMeant = isOfFormats && ImageFormat(name: name) != nil
        let meant = isMeant ? nil : SpellingSuggestion.nearest(name, known)
        let hint = meant.map { ". Did you mean '\($0)'? Expected one of " } ?? ": expected one of "
        reading.report(
            item.line, "\(key): \(fault)\(hint)\(known.joined(separator: ", "))")
    }

    /// Returns the names that workers of this pool can support; nil if any name is possible.
    private func known(to pool: WorkerPool) -> [String]? {
        switch (pool.trust, pool.name.family) {
        case (.external, _): external
        case (.own, .vector): drawing ?? own
        case (.own, .raster): own
        }
    }

    private var isOfFormats: Bool { what == Self.format }

    private func entry(_ name: String) -> String { isOfFormats ? Self.format(name) : name }

    /// Returns the canonical name of a format for any of its aliases.
    static func format(_ word: String) -> String { ImageFormat(name: word)?.name ?? word }
}
