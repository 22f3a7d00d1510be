import CMessages
import ImageModel
import Messages

/// What the configuration sets of the caches.
struct CacheSettingsMessage: WireMessage {
    var caches: [NamedCacheSettings]

    typealias Form = Imagebus__V1__CacheSettings
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__cache_settings__init }
    static var blank: Self { Self(caches: []) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.list(
            &caches, &wire.pointee.n_caches, &wire.pointee.caches, "CacheSettings.caches",
            limit: NamedCacheSettings.countMax)
    }
}

extension NamedCacheSettings: WireMessage {
    typealias Form = Imagebus__V1__CacheSettings__Cache
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__cache_settings__cache__init }
    static var blank: Self { Self(name: "", settings: CacheSettings()) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(
            &name, &wire.pointee.name, "Cache.name", limit: RequestLimits.nameBytesMax)
        var texts: [String: String] = [:]
        for said in settings.said {
            texts[said.setting.rawValue] = said.setting.text(of: said.value)
        }
        try map.details(
            &texts, ParameterLimits.self, &wire.pointee.n_settings, &wire.pointee.settings,
            "Cache.settings", limit: RequestLimits.parametersMax)
        guard let settings = CacheSettings(texts: texts) else {
            throw .field("Cache.settings", .unknownValue)
        }
        self.settings = settings
        try map.texts(
            &readOnly, &wire.pointee.n_read_only, &wire.pointee.read_only, "Cache.read_only",
            countMax: ReadOnlyDirectory.countMax, limit: FileRoot.bytesMax)
    }
}

extension CacheSettings {
    /// Settings by name; `nil` where one is unknown, or has a value that it cannot have.
    fileprivate init?(texts: [String: String]) {
        self.init()
        for (name, text) in texts {
            guard let setting = CacheSetting(rawValue: name), let value = setting.value(of: text)
            else { return nil }
            self[setting] = value
        }
    }
}
