-- SPDX-License-Identifier: Apache-2.0
--
-- Wireshark dissector for captures of 'backplane trace NODE --pcapng FILE': link type USER0, each packet a pseudo-header of
-- 4 bytes (version, direction, number of file descriptors, 0) and a vfio-user message.
--
--   tshark -X lua_script:vfio-user.lua -r FILE
--   wireshark: put this file in the personal Lua plug-in folder (Help, About, Folders)

local vfio_user = Proto("vfio_user", "vfio-user")

local commands = {
    [1] = "VERSION", [2] = "DMA_MAP", [3] = "DMA_UNMAP", [4] = "DEVICE_GET_INFO", [5] = "DEVICE_GET_REGION_INFO",
    [6] = "DEVICE_GET_REGION_IO_FDS", [7] = "DEVICE_GET_IRQ_INFO", [8] = "DEVICE_SET_IRQS", [9] = "REGION_READ",
    [10] = "REGION_WRITE", [11] = "DMA_READ", [12] = "DMA_WRITE", [13] = "DEVICE_RESET", [15] = "REGION_WRITE_MULTI",
    [16] = "DEVICE_FEATURE", [17] = "MIG_DATA_READ", [18] = "MIG_DATA_WRITE",
}
local directions = { [0] = "client to server", [1] = "server to client" }
local types = { [0] = "command", [1] = "reply" }
local regions = {
    [0] = "BAR0", [1] = "BAR1", [2] = "BAR2", [3] = "BAR3", [4] = "BAR4", [5] = "BAR5", [6] = "ROM",
    [7] = "config", [8] = "VGA", [9] = "migration",
}
local irqs = { [0] = "INTx", [1] = "MSI", [2] = "MSI-X", [3] = "ERR", [4] = "REQ" }

local f = {
    version = ProtoField.uint8("vfio_user.capture.version", "Capture version"),
    direction = ProtoField.uint8("vfio_user.direction", "Direction", base.DEC, directions),
    fds = ProtoField.uint8("vfio_user.fds", "File descriptors"),
    id = ProtoField.uint16("vfio_user.id", "Message id"),
    command = ProtoField.uint16("vfio_user.command", "Command", base.DEC, commands),
    size = ProtoField.uint32("vfio_user.size", "Message size"),
    flags = ProtoField.uint32("vfio_user.flags", "Flags", base.HEX),
    type = ProtoField.uint32("vfio_user.flags.type", "Type", base.DEC, types, 0xf),
    no_reply = ProtoField.bool("vfio_user.flags.no_reply", "No reply", 32, nil, 0x10),
    err = ProtoField.bool("vfio_user.flags.error", "Error", 32, nil, 0x20),
    errno = ProtoField.uint32("vfio_user.errno", "Error number"),
    major = ProtoField.uint16("vfio_user.major", "Major version"),
    minor = ProtoField.uint16("vfio_user.minor", "Minor version"),
    capabilities = ProtoField.string("vfio_user.capabilities", "Capabilities"),
    argsz = ProtoField.uint32("vfio_user.argsz", "argsz"),
    argflags = ProtoField.uint32("vfio_user.argflags", "Flags", base.HEX),
    region = ProtoField.uint32("vfio_user.region", "Region", base.DEC, regions),
    irq = ProtoField.uint32("vfio_user.irq", "Interrupt type", base.DEC, irqs),
    offset = ProtoField.uint64("vfio_user.offset", "Offset", base.HEX),
    address = ProtoField.uint64("vfio_user.address", "DMA address", base.HEX),
    length = ProtoField.uint64("vfio_user.length", "Length", base.HEX),
    start = ProtoField.uint32("vfio_user.start", "First"),
    count = ProtoField.uint32("vfio_user.count", "Count"),
    num_regions = ProtoField.uint32("vfio_user.num_regions", "Regions"),
    num_irqs = ProtoField.uint32("vfio_user.num_irqs", "Interrupt types"),
    cap_offset = ProtoField.uint32("vfio_user.cap_offset", "Capability offset"),
    data = ProtoField.bytes("vfio_user.data", "Data"),
    value = ProtoField.uint64("vfio_user.value", "Value", base.HEX),
}
for _, field in pairs(f) do table.insert(vfio_user.fields, field) end

local truncated = ProtoExpert.new("vfio_user.truncated", "Message cut off by the capture", expert.group.UNDECODED, expert.severity.NOTE)
vfio_user.experts = { truncated }

-- Reads fields one after another; stops quietly where the bytes end.
local function reader(buffer, tree, at)
    local r = {}
    function r.left() return buffer:len() - at end
    function r.take(field, bytes)
        if r.left() < bytes then at = buffer:len() return nil end
        local range = buffer(at, bytes)
        if field then tree:add_le(field, range) end
        at = at + bytes
        return bytes == 8 and range:le_uint64() or range:le_uint()
    end
    function r.rest(field)
        if r.left() > 0 then tree:add(field, buffer(at, r.left())) end
    end
    -- Data of a register access: also as a number when it has the size of one.
    function r.data()
        local n = r.left()
        local shown = nil
        if n == 1 or n == 2 or n == 4 or n == 8 then
            local value = buffer(at, n):le_uint64()
            tree:add(f.value, buffer(at, n), value)
            shown = "0x" .. (value:tohex():gsub("^0+(%x)", "%1"))
        end
        r.rest(f.data)
        return shown
    end
    return r
end

local function hex(value)
    if value == nil then return "?" end
    if type(value) == "number" then return string.format("0x%x", value) end
    return "0x" .. (value:tohex():gsub("^0+(%x)", "%1"))
end

-- One function for each command: adds its fields, returns what the summary shall say.
local bodies = {}
bodies[1] = function(r, buffer, tree)
    local major, minor = r.take(f.major, 2), r.take(f.minor, 2)
    if r.left() > 0 then
        local json = buffer(buffer:len() - r.left()):stringz()
        tree:add(f.capabilities, buffer(buffer:len() - r.left()), json)
        return string.format("%s.%s %s", major, minor, json)
    end
    return string.format("%s.%s", major or "?", minor or "?")
end
bodies[2] = function(r)
    r.take(f.argsz, 4) r.take(f.argflags, 4)
    local offset, address, length = r.take(f.offset, 8), r.take(f.address, 8), r.take(f.length, 8)
    return string.format("address=%s size=%s offset=%s", hex(address), hex(length), hex(offset))
end
bodies[3] = function(r)
    r.take(f.argsz, 4) r.take(f.argflags, 4)
    local address, length = r.take(f.address, 8), r.take(f.length, 8)
    return string.format("address=%s size=%s", hex(address), hex(length))
end
bodies[4] = function(r)
    r.take(f.argsz, 4) r.take(f.argflags, 4)
    local n, irq = r.take(f.num_regions, 4), r.take(f.num_irqs, 4)
    return string.format("regions=%s irqs=%s", n or "?", irq or "?")
end
bodies[5] = function(r)
    r.take(f.argsz, 4) r.take(f.argflags, 4)
    local index = r.take(f.region, 4)
    r.take(f.cap_offset, 4)
    local size = r.take(f.length, 8)
    r.take(f.offset, 8) r.rest(f.data)
    return string.format("%s size=%s", regions[index] or tostring(index), hex(size))
end
bodies[6] = function(r)
    r.take(f.argsz, 4) r.take(f.argflags, 4)
    local index, count = r.take(f.region, 4), r.take(f.count, 4)
    r.rest(f.data)
    return string.format("%s count=%s", regions[index] or tostring(index), count or "?")
end
bodies[7] = function(r)
    r.take(f.argsz, 4) r.take(f.argflags, 4)
    local index, count = r.take(f.irq, 4), r.take(f.count, 4)
    return string.format("%s count=%s", irqs[index] or tostring(index), count or "?")
end
bodies[8] = function(r)
    r.take(f.argsz, 4)
    local flags, index, start, count = r.take(f.argflags, 4), r.take(f.irq, 4), r.take(f.start, 4), r.take(f.count, 4)
    r.rest(f.data)
    return string.format("%s flags=%s start=%s count=%s", irqs[index] or tostring(index), hex(flags), start or "?", count or "?")
end
local function region_access(r)
    local offset, index, count = r.take(f.offset, 8), r.take(f.region, 4), r.take(f.count, 4)
    local value = r.data()
    local text = string.format("%s+%s count=%s", regions[index] or tostring(index), hex(offset), count or "?")
    return value and text .. " value=" .. value or text
end
bodies[9] = region_access
bodies[10] = region_access
local function dma_access(r)
    local address, count = r.take(f.address, 8), r.take(f.length, 8)
    r.rest(f.data)
    return string.format("address=%s count=%s", hex(address), hex(count))
end
bodies[11] = dma_access
bodies[12] = dma_access
bodies[16] = function(r)
    r.take(f.argsz, 4)
    local flags = r.take(f.argflags, 4)
    r.rest(f.data)
    return "feature=" .. hex(flags)
end
bodies[17] = function(r) r.take(f.argsz, 4) local n = r.take(f.count, 4) r.rest(f.data) return "size=" .. (n or "?") end
bodies[18] = bodies[17]

function vfio_user.dissector(buffer, pinfo, root)
    pinfo.cols.protocol = "vfio-user"
    if buffer:len() < 20 then return 0 end
    local tree = root:add(vfio_user, buffer())
    tree:add(f.version, buffer(0, 1))
    tree:add(f.direction, buffer(1, 1))
    tree:add(f.fds, buffer(2, 1))
    local from_server, fds = buffer(1, 1):uint() == 1, buffer(2, 1):uint()
    pinfo.cols.src = from_server and "server" or "client"
    pinfo.cols.dst = from_server and "client" or "server"

    local message = buffer(4):tvb()
    tree:add_le(f.id, message(0, 2))
    tree:add_le(f.command, message(2, 2))
    tree:add_le(f.size, message(4, 4))
    local flags = tree:add_le(f.flags, message(8, 4))
    flags:add_le(f.type, message(8, 4))
    flags:add_le(f.no_reply, message(8, 4))
    flags:add_le(f.err, message(8, 4))
    tree:add_le(f.errno, message(12, 4))

    local id, command, bits = message(0, 2):le_uint(), message(2, 2):le_uint(), message(8, 4):le_uint()
    local failed = bit.band(bits, 0x20) ~= 0
    local info = string.format("%s%s id=%d", commands[command] or ("command " .. command),
        bit.band(bits, 0xf) == 1 and " reply" or (bit.band(bits, 0x10) ~= 0 and " posted" or ""), id)
    if failed then
        info = info .. " errno=" .. message(12, 4):le_uint()
    elseif message:len() > 16 then
        local body = bodies[command]
        local r = reader(message, tree, 16)
        if body then
            info = info .. " " .. body(r, message, tree)
        else
            r.rest(f.data)
        end
    end
    if fds > 0 then info = info .. " fds=" .. fds end
    if message:len() < message(4, 4):le_uint() then tree:add_proto_expert_info(truncated) end
    pinfo.cols.info = info
    return buffer:len()
end

-- LINKTYPE_USER0 is encapsulation wtap.USER0 in Wireshark's own numbers.
DissectorTable.get("wtap_encap"):add(wtap.USER0, vfio_user)
