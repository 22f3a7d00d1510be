import CMessages
import Model

// The rules that the option `by` of imagebus.proto names, for lists.

extension FieldMap {
    /// Block IDs, all nonzero.
    func blocks(
        _ value: inout [BlockID], _ count: inout Int, _ member: inout UnsafeMutablePointer<UInt64>?,
        _ field: String, limit: Int
    ) throws(WireError) {
        var numbers = value.map(\.value)
        try self.numbers(&numbers, &count, &member, field, limit: limit, least: 1)
        value = numbers.map { BlockID($0) }
    }

    /// Tags of cache entries.
    func tags(
        _ value: inout [String], _ count: inout Int,
        _ member: inout UnsafeMutablePointer<CText?>?, _ field: String, countMax: Int, limit: Int
    ) throws(WireError) {
        try texts(&value, &count, &member, field, countMax: countMax, limit: limit)
        guard value.allSatisfy({ CacheTag.isTag($0) }) else { throw .field(field, .outOfRange) }
    }

    /// Texts with a limit for all of them.
    func patterns(
        _ value: inout [String], _ count: inout Int,
        _ member: inout UnsafeMutablePointer<CText?>?, _ field: String, countMax: Int, limit: Int,
        together: Int
    ) throws(WireError) {
        try texts(&value, &count, &member, field, countMax: countMax, limit: limit)
        guard value.reduce(0, { $0 + $1.utf8.count }) <= together else {
            throw .field(field, .tooLong(limit: together))
        }
    }

    /// Headers with a limit for all names and values.
    func headers(
        _ value: inout [HTTPHeader], _ count: inout Int,
        _ member: inout CList<Imagebus__V1__Header>?, _ field: String, limit: Int, together: Int
    ) throws(WireError) {
        try list(&value, &count, &member, field, limit: limit)
        let bytes = value.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        guard bytes <= together else { throw .field(field, .tooLong(limit: together)) }
    }

    /// The statuses that a rule changes, each at most once; 0 stands for every other status.
    func statuses(
        _ value: inout ResponseChange, _ count: inout Int,
        _ member: inout CList<Imagebus__V1__StatusChange>?, _ field: String, limit: Int
    ) throws(WireError) {
        var changes = value.statuses.sorted { $0.key < $1.key }.map {
            StatusChange(from: $0.key, to: $0.value)
        }
        if let every = value.everyStatus { changes.insert(StatusChange(from: 0, to: every), at: 0) }
        try list(&changes, &count, &member, field, limit: limit)
        value.statuses = Dictionary(changes.map { ($0.from, $0.to) }) { first, _ in first }
        guard value.statuses.count == changes.count else { throw .field(field, .duplicate) }
        value.everyStatus = value.statuses.removeValue(forKey: 0)
    }

    /// An optional list of names.
    func names(
        _ value: inout Set<String>?, _ member: inout CPart<Imagebus__V1__Capabilities__Names>?,
        _ field: String
    ) throws(WireError) {
        var list = value.map { CapabilityNames(names: $0) }
        try maybe(&list, &member, field)
        value = list?.names
    }

    /// Optional validators, of which at least one is present.
    func validators(
        _ value: inout Validators?, _ member: inout CPart<Imagebus__V1__Validators>?,
        _ field: String
    ) throws(WireError) {
        var sent = value.map { OriginValidators(etag: $0.etag, lastModified: $0.lastModified) }
        try maybe(&sent, &member, field)
        value = nil
        guard let sent else { return }
        value = Validators(etag: sent.etag, lastModified: sent.lastModified)
        if value == nil { throw .field(field, .missing) }
    }
}

/// A list of distinct names; errors name the list.
struct CapabilityNames: WireMessage {
    var names: Set<String>

    typealias Form = Imagebus__V1__Capabilities__Names
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__capabilities__names__init }
    static var blank: Self { Self(names: []) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        var names = self.names.sorted()
        try map.texts(
            &names, &wire.pointee.n_names, &wire.pointee.names, map.container,
            countMax: WorkerCapabilities.entriesMax, limit: WorkerCapabilities.entryBytesMax)
        guard names.allSatisfy(WorkerCapabilities.isEntry) else {
            throw .field(map.container, .unknownValue)
        }
        self.names = Set(names)
        guard self.names.count == names.count else { throw .field(map.container, .duplicate) }
    }
}

// Dictionaries of texts.

/// One pair of a text dictionary.
protocol NamedText: WireMessage where Form == Imagebus__V1__Detail {
    var name: String { get set }
    var value: String { get set }

    /// The limit of the value, in bytes.
    var valueMax: Int { get }
    /// The limit of a name, in bytes.
    static var nameMax: Int { get }

    init(name: String, value: String)
}

extension NamedText {
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__detail__init }
    static var blank: Self { Self(name: "", value: "") }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(&name, &wire.pointee.name, "Detail.name", limit: Self.nameMax)
        try map.text(&value, &wire.pointee.value, "Detail.value", limit: valueMax)
    }
}

/// A pair whose name has at most `nameBytes` and whose value at most `valueBytes` bytes.
struct Detail<let nameBytes: Int, let valueBytes: Int>: NamedText {
    var name: String
    var value: String

    static var nameMax: Int { nameBytes }
    var valueMax: Int { valueBytes }
}

extension FieldMap {
    /// A text dictionary, encoded in the order of the names.
    func details<Pair: NamedText>(
        _ value: inout [String: String], _ pair: Pair.Type, _ count: inout Int,
        _ member: inout CList<Imagebus__V1__Detail>?, _ field: String, limit: Int
    ) throws(WireError) {
        var details =
            value.isEmpty
            ? [] : value.sorted { $0.key < $1.key }.map { Pair(name: $0.key, value: $0.value) }
        try list(&details, &count, &member, field, limit: limit)
        if details.isEmpty { return }
        value = Dictionary(details.map { ($0.name, $0.value) }) { first, _ in first }
        guard value.count == details.count else { throw .field(field, .duplicate) }
    }

    /// EXIF fields that this version knows, each at most once.
    func exif(
        _ value: inout [ExifField: String], _ count: inout Int,
        _ member: inout CList<Imagebus__V1__Detail>?, _ field: String
    ) throws(WireError) {
        var texts = Dictionary(uniqueKeysWithValues: value.map { ($0.key.rawValue, $0.value) })
        try details(
            &texts, Detail<128, 128>.self, &count, &member, field, limit: ExifField.allCases.count)
        value = [:]
        for (name, text) in texts {
            guard let known = ExifField(rawValue: name) else { throw .field(field, .unknownValue) }
            value[known] = text
        }
    }

    /// Settings by name that this version knows.
    func settings<Settings: NamedSettings>(
        _ value: inout Settings, _ count: inout Int, _ member: inout CList<Imagebus__V1__Detail>?,
        _ field: String, limit: Int
    ) throws(WireError) {
        var texts = value.settingTexts
        try details(&texts, Detail<128, 256>.self, &count, &member, field, limit: limit)
        guard value.apply(settings: texts) else { throw .field(field, .unknownValue) }
    }
}

/// A value with settings by name.
protocol NamedSettings {
    /// The settings that differ from the defaults, by name.
    var settingTexts: [String: String] { get }

    /// Replaces the settings. Returns `false` if one is unknown or has an invalid value.
    mutating func apply(settings: [String: String]) -> Bool
}

extension OutputOptions: NamedSettings {}

extension DownloadSettings: NamedSettings {
    static var blank: Self { Self() }
    var settingTexts: [String: String] { named }

    mutating func apply(settings texts: [String: String]) -> Bool {
        guard let settings = DownloadSettings(texts: texts) else { return false }
        self = settings
        return true
    }
}

extension CacheSettings: NamedSettings {
    static var blank: Self { Self() }

    var settingTexts: [String: String] {
        let texts = explicitSettings.map { ($0.setting.rawValue, $0.setting.text(of: $0.value)) }
        return Dictionary(uniqueKeysWithValues: texts)
    }

    mutating func apply(settings texts: [String: String]) -> Bool {
        self = CacheSettings()
        for (name, text) in texts {
            guard let setting = CacheSetting(rawValue: name), let value = setting.value(of: text)
            else { return false }
            self[setting] = value
        }
        return true
    }
}
