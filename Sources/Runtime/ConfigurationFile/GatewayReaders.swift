import Model
import YAML

/// The unvalidated settings of one listener, or those shared by all listeners.
private struct ListenerDraft: Sendable {
    var place: ListenPlace?
    var values: [GatewaySetting: String] = [:]
    var listeners: [ListenerDraft]?
    var line = 0

    /// Returns the listener's settings, completed by the shared settings that apply to its grammar.
    func settings(besides common: ListenerDraft) -> GatewayListenerSettings? {
        guard let place else { return nil }
        let grammar = values[.grammar] ?? common.values[.grammar] ?? "imgproxy"
        let shared = common.values.filter { $0.key.applies(to: grammar) }
        return GatewayListenerSettings(place, values: shared.merging(values) { $1 })
    }
}

extension KeyTable where Target == ListenerDraft {
    fileprivate static let listener = KeyTable(
        [Row("listen", .place, \.place)] + GatewaySetting.allCases.map(row))

    fileprivate static let gateway = KeyTable(
        listener.rows + [
            Row("listeners", ValueReader<[ListenerDraft]>.list(of: .listener), \.listeners)
        ])

    private static func row(_ setting: GatewaySetting) -> Row {
        guard setting.placeholder != nil else {
            return Row(setting.rawValue, .bool) { draft, isThere in
                draft.values[setting] = isThere ? "" : nil
            }.formerly(setting.formerNames)
        }
        return Row(setting.rawValue, .setting(setting)) { draft, value in
            draft.values[setting] = value
        }.formerly(setting.formerNames)
    }
}

extension ValueReader where Value == ListenPlace {
    fileprivate static let place = scalar(ListenPlace.expected) { ListenPlace($0) }
}

extension ValueReader where Value == String {
    /// Parses the value of a setting; a list is joined into one text.
    fileprivate static func setting(_ setting: GatewaySetting) -> ValueReader {
        ValueReader { node, name, reading in
            let text: String
            switch node.content {
            case .scalar(let scalar): text = scalar
            case .list(let items):
                let words = items.compactMap { item in
                    if case .scalar(let word) = item.content { word } else { nil }
                }
                guard words.count == items.count else {
                    return reading.refuse(node.line, "\(name): expected a list of scalars")
                }
                let separators: [GatewaySetting: String] = [
                    .presetLines: "\n", .urlReplacements: ";",
                ]
                text = words.joined(separator: separators[setting] ?? ",")
            case .map:
                return reading.refuse(node.line, "\(name): expected \(setting.expected)")
            }
            guard setting.accepts(text) else {
                return reading.refuse(
                    node.line, "\(name): '\(text.prefix(64))' is not \(setting.expected)")
            }
            return text
        }
    }
}

extension ValueReader where Value == ListenerDraft {
    fileprivate static let listener = ValueReader { node, name, reading in
        var draft = ListenerDraft()
        draft.line = node.line
        KeyTable.listener.read(node, name, into: &draft, &reading)
        return draft
    }
}

extension ValueReader where Value == [GatewayListenerSettings] {
    /// One listener, or shared settings with a list of listeners.
    static let gateways = ValueReader { node, name, reading in
        var draft = ListenerDraft()
        draft.line = node.line
        KeyTable.gateway.read(node, name, into: &draft, &reading)
        if draft.place != nil, draft.listeners != nil {
            reading.report(node.line, "\(name): move 'listen' into each entry of 'listeners'")
        }
        let drafts = draft.listeners ?? [draft]
        if drafts.count > GatewayListenerSettings.countMax {
            reading.report(
                node.line,
                "\(name): at most \(GatewayListenerSettings.countMax) listeners are accepted")
        }
        var listeners: [GatewayListenerSettings] = []
        for one in drafts {
            guard let settings = one.settings(besides: draft) else {
                reading.report(
                    one.line,
                    "\(name): 'listen' is missing: specify \(ListenPlace.expected), such as "
                        + "127.0.0.1:8080")
                continue
            }
            if !settings.place.isAnyPort,
                listeners.contains(where: { $0.place == settings.place })
            {
                reading.report(
                    one.line,
                    "\(name): two listeners use \(settings.place.text): choose another port or path"
                )
            }
            let grammar = settings.values[.grammar] ?? "imgproxy"
            for setting in GatewaySetting.allCases
            where one.values[setting] != nil && !setting.applies(to: grammar) {
                reading.report(
                    one.line,
                    "\(name): \(setting.rawValue) requires the grammar "
                        + (setting.grammars ?? []).joined(separator: " or "))
            }
            listeners.append(settings)
        }
        return listeners
    }
}
