/// Rules about dependencies, based on the text of the manifest and of the modules' files.
enum LayeringRules {
    /// Dependencies in the manifest that are not permitted.
    static func findings(in manifest: Manifest) -> [Finding] {
        manifest.rooms.flatMap { room in
            room.dependencies.compactMap { name in
                guard let target = manifest[name] else {
                    return finding(room.line, "\(room.name) → \(name)", "no room has that name")
                }
                guard !Arrows.isAllowed(from: room, to: target) else { return nil }
                return finding(
                    room.line, "\(room.name) → \(name)",
                    "\(room.layer.rawValue) must not use this part of \(target.layer.rawValue)")
            }
        }
    }

    /// Imports in a file of `room` that go up, sideways, or aren't declared in the manifest.
    static func findings(
        in source: SourceText, of room: Room, _ manifest: Manifest
    ) -> [Finding] {
        Imports.all(in: source).compactMap { found in
            guard
                let remedy = objection(to: found.module, of: room, manifest)
            else { return nil }
            return source.finding(
                at: found.line - 1, "\(room.name) imports \(found.module)", remedy)
        }
    }

    private static func objection(
        to module: String, of room: Room, _ manifest: Manifest
    ) -> String? {
        if module == room.name { return "a room does not import itself" }
        guard let target = manifest[module] else {
            if Arrows.isSystemModule(module, allowedIn: room) { return nil }
            return "\(room.layer.rawValue) must not use this module"
        }
        guard Arrows.isAllowed(from: room, to: target) else {
            return "\(room.layer.rawValue) must not use this part of \(target.layer.rawValue)"
        }
        guard room.dependencies.contains(module) else {
            return "Package.swift does not give it to \(room.name)"
        }
        return nil
    }

    private static func finding(_ line: Int, _ rule: String, _ remedy: String) -> Finding {
        Finding(file: "Package.swift", line: line, rule: rule, remedy: remedy)
    }
}
